"""The user's mistakes. Bad traffic is data and never raises one of these."""


class UserError(Exception):
    """Something the user can put right; `cli` prints it with its hint and exits with 2."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
