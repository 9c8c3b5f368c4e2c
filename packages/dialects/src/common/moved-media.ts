// Images and files of tool results that may only contain text: they are sent after all results, because nothing may come between those.

/** The text of a result of which nothing else is left. */
export const movedMediaText = 'The result comes after the tool results.'

/** The text before the images and files of a result. */
export const movedMediaNote = (callId: string): string => `Returned by the tool call ${callId}:`
