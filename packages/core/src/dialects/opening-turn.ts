import { unsupported } from './apply-quirks.ts'

// Handles conversations that start with the assistant, for dialects that require the user to start.

/** The inserted user text. */
export const openingText = '(The conversation begins.)'

export const openingWarning = unsupported(
  'input',
  'This provider rejects conversations that begin with an assistant message; a short user message was inserted before it.',
)
