import type { JsonObject } from '../protocol/wire.ts'
import type { BodyDraft } from './body-draft.ts'
import { unsupported } from './part-warnings.ts'

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

interface UserTurns {
  /** The model's role. */
  readonly role: 'assistant' | 'model'
  readonly userTurn: (text: string) => JsonObject
  /** Whether the model continues an assistant message, or the dialect accepts one at the start. */
  readonly keepsStart?: boolean
  readonly keepsEnd?: boolean
}

/** The turns with one of the user where they need one: at the start, and at the end for models that do not continue a turn of theirs. */
export function withUserTurns(
  turns: readonly JsonObject[],
  draft: BodyDraft,
  { role, userTurn, keepsStart, keepsEnd = !draft.quirks.noPrefill }: UserTurns,
): readonly JsonObject[] {
  const needsOpening = !keepsStart && turns[0]?.role === role
  const needsClosing = !keepsEnd && turns.at(-1)?.role === role
  if (needsOpening) draft.warnings.push(openingWarning)
  if (needsClosing) draft.warnings.push(closingWarning)
  return [...(needsOpening ? [userTurn(openingText)] : []), ...turns, ...(needsClosing ? [userTurn(closingText)] : [])]
}
