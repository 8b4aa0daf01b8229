"""JSON as Python sees it."""

type JSON = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None
type JSONObject = dict[str, JSON]
