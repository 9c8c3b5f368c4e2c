import { unsupported } from './apply-quirks.ts'

// Handles conversations that start or end with the assistant, for dialects and models that require the user there.

/** The inserted user text. */
export const openingText = '(The conversation begins.)'

export const openingWarning = unsupported(
  'input',
  'This provider rejects conversations that begin with an assistant message; a short user message was inserted before it.',
)

/** The added user text. */
export const closingText = '(Continue.)'

export const closingWarning = unsupported(
  'input',
  'This model rejects conversations that end with an assistant message, and does not continue it; a short user message was added.',
)
