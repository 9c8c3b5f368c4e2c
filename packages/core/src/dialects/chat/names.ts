import type { InferenceRequest } from '../../protocol/request.ts'
import { type Spelling, spell, spellWarnings } from '../spelling.ts'
import { originalBody } from './wire.ts'

// Our names of fields → what callers of this language call them.

const names: Spelling = new Map([
  ['max_output_tokens', 'max_completion_tokens'],
  ['text.format', 'response_format'],
  ['text.format.name', 'response_format.json_schema.name'],
  ['text.format.description', 'response_format.json_schema.description'],
  ['text.format.schema', 'response_format.json_schema.schema'],
  ['text.format.strict', 'response_format.json_schema.strict'],
  ['text.verbosity', 'verbosity'],
  ['reasoning', 'reasoning_effort'],
  ['reasoning.effort', 'reasoning_effort'],
  ['include', 'logprobs'],
  ['include[0]', 'logprobs'],
])

const withOldCap: Spelling = new Map([...names, ['max_output_tokens', 'max_tokens']])

/** In the words of this caller: the cap on an answer has two names, and one of them was used. */
export function spellingOf(request: InferenceRequest): Spelling {
  const body = originalBody(request)
  return body && isGiven(body.max_tokens) && !isGiven(body.max_completion_tokens) ? withOldCap : names
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** An error by the caller's name of the field, also where its sentence names it. */
export function spellError({ message, param }: { readonly message: string; readonly param: string | null }): {
  readonly message: string
  readonly param: string | null
} {
  if (param === null) return { message, param }
  const [warning] = spellWarnings([{ code: '', message, param }], names)
  return { message: warning?.message ?? message, param: spell(param, names) }
}
