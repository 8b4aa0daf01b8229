"""The words in which a model says that it sees no earlier conversation.

Matched against text in lower case with straight quotes and single spaces. What is denied has to be
this conversation: "I keep no memory of previous conversations" is a true and lawful sentence.

In the phrases, words in capitals stand for the alternatives in `_WORDS`.
"""

import re

_WORDS = {
    "TALK": r"(?:conversation|chat|discussion|session|dialog(?:ue)?|exchange|interaction)",
    "OURTALK": r"(?:(?:our|this|your) (?:new |current )?TALK|the (?:conversation|chat|discussion))",
    "OUR": r"(?:our|this|the|your|my|an?|any)",
    "THIS": r"(?:this|it|that|here|(?:this|your) (?:message|request|question|prompt))",
    "IS": r"(?:'s| is| marks| appears to be| seems to be| looks like| looks to be| would be"
    r"| must be)FILL",
    "FILL": r"(?: actually| only| just| currently| in fact| still| also| really)*",
    "FIRST": r"(?:the|our|your|my) (?:very )?first",
    "MESSAGE": r"(?:message|turn|thing|request|question|prompt|input|exchange|interaction)",
    "OFTALK": r"(?: (?:in|of|to|from) OUR (?:new |current )?TALK)",
    "YOUSENT": r"(?: (?:that )?(?:you|i)(?:'ve| have)? (?:sent|see|seen|received|asked|written|said"
    r"|got|have(?! to))\b)",
    "END": r"(?= ?[.,;:!?—–-]|$)",
    "BEFORE": r"(?:previous|prior|earlier|preceding|past|former)",
    "SAID": r"(?:(?:other |visible )?(?:BEFORE (?:messages?|conversation|exchanges?|turns?|chat"
    r"|discussion|dialog(?:ue)?|interactions?|(?:conversation |chat |message )?history)\b"
    r"|(?:conversation|chat|message) history\b)ELSEWHERE)",
    # The messages of a log, a file or a fixture are not those of this conversation.
    "ELSEWHERE": r"(?! (?:sessions?|logs?|files?|tables?|database)\b)"
    r"(?! (?:in|on|for) (?!(?:me|us)\b|OUR (?:new |current )?TALK))",
    "RECORD": r"(?:(?:a |any )?(?:record|memory|trace|sight|recollection) of |access to )",
    "NOT": r"(?: do not|n't| cannot| can not| am not able to| am unable to|'m not able to"
    r"|'m unable to| did not| have not)",
    "SEE": r"(?:see|have|find|recall|remember|access|receive|received|seen|been given|view|appear"
    r" to have|seem to have)",
    "ANY": r"(?:any |our |an? |the |your )",
    "KNOWLEDGE": r"(?:context|record|memory|knowledge|recollection|information|details?)",
    "HAVENT": r"(?:(?:you|we)(?: have not|'ve not| haven't| hadn't| did not| didn't)FILL(?: yet)?)",
    "TOLD": r"(?:told|shared|sent|said|asked|discussed|given|written|mentioned|talked|spoken"
    r"|exchanged|provided|tell|share|send|say|ask)",
}
_PHRASES = (
    # This is the very first message in our conversation. Your message is the first one I see.
    r"\bTHISIS FIRST MESSAGE(?:OFTALK|YOUSENT| from you| here|END)",
    r"\bTHISIS FIRST (?:one|thing)(?:OFTALK|YOUSENT| here)",
    r"\bTHISIS FIRST (?:one|thing) you(?:'ve| have)? (?:told|asked|shared with|given) me\b",
    r"\bTHISIS FIRST TALKEND",
    r"\bTHISIS (?:the )?(?:very )?(?:start|beginning|opening|outset) of OUR (?:new )?TALK\b",
    r"\bTHISIS an? (?:new|fresh|brand-new|brand new) TALK(?:END| (?:with|and|so)\b)",
    # Our conversation has just begun. The chat starts with your request.
    r"\bOURTALK (?:has |is )?(?:only |just )+(?:started|starting|begun|beginning)\b",
    r"\bOURTALK (?:begins|starts|began|started) (?:here|now|with (?:this|your))\b",
    r"\b(?:we|you)(?:'ve|'re| have| are) (?:only |just )+(?:started|starting|begun|beginning)"
    r" (?:talking|chatting|(?:OUR|a) TALK)\b",
    r"\b(?:since|as|because) we(?:'ve|'re| have| are) (?:only |just )+(?:started|begun|met)END",
    # There are no earlier messages. I see no record of a previous conversation.
    r"\bthere(?:'s| is| are| was| were| has been| have been|)FILL"
    r" (?:no|not any) RECORD?(?:ANY)?SAID",
    r"\bthere(?: is| are| was| were)(?:n't| not)FILL (?:been )?(?:any |an? )RECORD?(?:ANY)?SAID",
    r"\bi (?:can |currently |do )?SEE (?:no|not any) RECORD?(?:ANY)?SAID",
    r"\bi(?: was|'ve been| have been) (?:given|sent|shown) no SAID",
    # I don't have any earlier messages. I can't see our previous conversation.
    r"\bi(?: do| ca| did| have| could)?NOTFILL SEE (?:any )?RECORD?(?:ANY)?SAID",
    r"\bi(?: do| ca| did| have| could)?(?:NOTFILL SEE (?:any|a)|(?: have|'ve) no) KNOWLEDGE"
    r" (?:of|from) (?:anything|what (?:we|you|was)|our|earlier)\b(?: [a-z']+){0,5}"
    r" (?:before|earlier|conversation|discussed|talked|said|chat)\b",
    r"\bno BEFORE (?:messages?|exchanges?|turns?|conversation|discussion)"
    r"(?:OFTALK| (?:was|were|is|are|has been|have been) (?!need)| (?:here|yet|so far|available)\b)",
    r"\b(?:without|lack|lacking|with no) (?:any |the )?BEFORE (?:messages|conversation|turns)\b",
    r"\b(?:i (?:have|lack|see)|there(?: is|'s)) no BEFORE context"
    r"(?: (?:from|of|in) OUR TALK| here|END)",
    # Nothing came before this. You haven't told me anything yet. I only see your latest message.
    r"\bnothing (?:has |had |was )?(?:been )?(?:came|come|said|discussed|shared|asked|mentioned)"
    r"(?: to me)? (?:before|earlier|yet|so far|prior)\b",
    r"\bnothing (?:comes |came |stands |is )?(?:before|precedes|preceded|preceding)"
    r" (?:this|your|it)\b",
    r"\bnothing (?:above|ahead of|in front of) (?:this|your) (?:message|request|question)\b",
    r"\bi(?: do| ca| did| have| could)?NOTFILL (?:see|have|find) any history(?: here|OFTALK|END)",
    r"\bno (?:messages?|conversation|discussion)"
    r" (?:before|prior to|came before|precedes?|preceded) (?:this|your|it)",
    r"\bnothing (?:earlier|before|prior)OFTALK",
    r"\bno BEFORE (?:entries|notes|items|data|details|instructions|tasks|text|input)OFTALK",
    r"\bseeing (?:this|it) as FIRST MESSAGE(?:OFTALK|YOUSENT|END)",
    r"\bHAVENT had (?:any |an? )SAID",
    r"\bHAVENT TOLD(?: me| with me| to me| about)? (?:anything|any messages?)\b",
    r"\bwe(?: have not|'ve not| haven't|'ve never| have never)FILL (?:talked|spoken|chatted|met)"
    r" (?:yet|before)\b",
    r"\bi (?:can )?only (?:see|have|received|got|was given) (?:your|this|the)"
    r" (?:latest|last|one|single|most recent|current) (?:message|request|question)\b",
    r"\b(?:your|this) (?:message|request|question)IS the only (?:one|message|thing)"
    r" (?:that )?(?:i|in our|in this)\b",
)


def _spelled_out(phrase: str) -> str:
    while (longer := re.sub(r"[A-Z]{2,}", lambda m: _word(m[0]), phrase)) != phrase:
        phrase = longer
    return phrase


def _word(capitals: str) -> str:
    """One word, or several written without a space: THISIS is THIS and IS."""
    for name in sorted(_WORDS, key=len, reverse=True):
        if capitals.startswith(name):
            return f"(?:{_WORDS[name]})" + capitals[len(name) :]
    return capitals


DENIAL = re.compile("|".join(_spelled_out(phrase) for phrase in _PHRASES))
