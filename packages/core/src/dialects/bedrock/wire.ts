import type { Failure } from '../../protocol/failure.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { type ErrorDetails, failureOf, readErrorDetails, unreadable } from '../failure.ts'
import { deriveCallId } from '../ids.ts'
import { objectIn, stringOf } from '../json.ts'
import { plainName } from '../tool-names.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'

export const dialect = 'bedrock'

const incomplete = (reason: string): Outcome => ({ status: 'incomplete', reason })
const malformed = (what: string): Outcome => ({ status: 'failed', error: { kind: 'server_error', message: `The model wrote ${what}.` } })

/** Why an answer ended; what is not listed means that it simply did. */
const endings: ReadonlyMap<string, Outcome> = new Map([
  ['max_tokens', incomplete('max_output_tokens')],
  ['model_context_window_exceeded', incomplete('max_output_tokens')],
  ['guardrail_intervened', incomplete('content_filter')],
  ['content_filtered', incomplete('content_filter')],
  ['malformed_model_output', malformed('what its provider could not read')],
  ['malformed_tool_use', malformed('a tool call that its provider could not read')],
])

export const outcomeOf = (reason: string): Outcome => endings.get(reason) ?? { status: 'completed' }

export const failed = (error: Failure): Outcome => ({ status: 'failed', error })
export const broken = failed(unreadable('The provider sent something that is not valid JSON.'))
export const truncated = failed(unreadable('The provider’s stream ended before the answer was finished.'))
export const nameless = failed(unreadable('The provider sent a tool call without a name.'))

export function countUsage(wire: Json | undefined, answered: boolean): ReturnType<typeof readUsage> {
  const usage = readUsage(wire, usageNames.bedrock)
  return isCounted(usage, answered) ? usage : undefined
}

/** The name of an error behind all that AWS hangs on it: `com.amazon.x#ThrottlingException:http://internal.amazon.com/…`. */
const errorName = (type: string): string => (type.split(':', 1)[0] ?? '').split('#').at(-1)?.trim() ?? ''

/** What went wrong under the name `type`; some services spell `Message`. */
export function complaintOf(type: string, body: JsonObject): ErrorDetails {
  const name = errorName(type || stringOf(body.__type))
  const said = readErrorDetails(body)
  return { ...said, message: said.message || stringOf(body.Message), ...(name !== '' && { code: name }) }
}

/** An error where an answer was due. */
export function errorIn(body: JsonObject): Failure {
  const complaint = complaintOf('', body)
  return complaint.message === '' && complaint.code === undefined
    ? unreadable('The provider’s answer holds no message.')
    : failureOf(complaint)
}

/** The arguments of a call, or a piece of them: an object where they came whole. Nothing where it is nested too deep to be written. */
export function inputOf({ input }: JsonObject): string | undefined {
  if (!isObject(input)) return stringOf(input)
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}

// What a thought needs to be said again: the block of the wire, as text. A changed character makes it worthless.

export interface Thought {
  readonly text: string
  readonly signature: string
  /** Base64 of what the provider hides. */
  readonly redacted: string
}

/** Nothing where the thought was not signed: then nobody would take it back. */
export function writeState({ text, signature, redacted }: Thought): string | undefined {
  if (redacted !== '') return JSON.stringify({ redactedContent: redacted })
  return signature === '' ? undefined : JSON.stringify({ reasoningText: { text, signature } })
}

export function readState(state: string): JsonObject | undefined {
  const block = objectIn(state)
  return block && (isObject(block.reasoningText) || typeof block.redactedContent === 'string') ? block : undefined
}

// Names of tools and ids of calls are made of the same few characters. What has others becomes a hash of itself, so that
// two that differ stay two, and the same is the same with every request.

const longest = 64
const isPlain = (text: string): boolean => text.length <= longest && /^[a-zA-Z0-9_-]+$/.test(text)

export const callIdOf = (id: string): string => (isPlain(id) ? id : deriveCallId(id))

export const nameOf = (name: string): string => plainName(name, longest)
