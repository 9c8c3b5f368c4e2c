import { unsupported } from './apply-quirks.ts'

// A conversation that the assistant begins, for dialects in which the user must.

/** What the user says before it. */
export const openingText = '(The conversation begins.)'

export const openingWarning = unsupported(
  'input',
  'This provider rejects conversations that begin with an assistant message; a short user message was inserted before it.',
)
