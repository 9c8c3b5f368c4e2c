import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { filled, integer, list, number, object, optional, type Read, refuse, required, text } from '../field-readers.ts'
import { objects } from '../json.ts'
import { readMessages, readSystem } from './request-items.ts'
import { readSteering, readTool, readToolChoice } from './request-options.ts'
import { dialect } from './wire.ts'

// What a caller may send, field by field. Readings remember the wire objects that they came from, so nothing unknown is lost
// on the way to a provider that speaks the same language.

const top = (body: JsonObject): { readonly body: JsonObject; readonly path: string } => ({ body, path: '' })

/** `counting`: only the tokens of the prompt are asked for, so an answer needs no cap. */
export function readPrompt(body: JsonObject, counting: boolean): Prompt {
  const place = top(body)
  const cap = (counting ? optional : required)(place, 'max_tokens', integer(1))
  const system = optional(place, 'system', readSystem)
  const messages = required(place, 'messages', readMessages)
  const tools = optional(place, 'tools', list(readTool))
  const { text: form, reasoning, unread } = readSteering(body, cap)
  const native = { ...unread, ...unknownOf(body) }
  return {
    input: typeof system === 'object' ? [system, ...messages] : messages,
    ...(typeof system === 'string' && { instructions: system }),
    ...(tools && { tools }),
    ...optional(place, 'tool_choice', readToolChoice),
    ...(cap !== undefined && { max_output_tokens: cap }),
    ...readSampling(body),
    ...(form && { text: form }),
    ...(reasoning && { reasoning }),
    ...readAccount(body),
    ...(Object.keys(native).length > 0 && { native: { type: 'native', dialect, body: native } }),
  }
}

function readSampling(body: JsonObject): Pick<Prompt, 'temperature' | 'top_p' | 'top_k' | 'stop'> {
  const place = top(body)
  const temperature = optional(place, 'temperature', number(0, 1))
  const top_p = optional(place, 'top_p', number(0, 1))
  const top_k = optional(place, 'top_k', integer(0))
  const stop = optional(place, 'stop_sequences', list(filled))
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
    ...(stop && stop.length > 0 && { stop }),
  }
}

/** On whose behalf it is asked, at which tier, and what is for one provider alone. */
function readAccount(body: JsonObject): Pick<Prompt, 'safety_identifier' | 'service_tier' | 'extensions'> {
  const place = top(body)
  const user = optional(place, 'metadata', readUser)
  const tier = optional(place, 'service_tier', text)
  const extensions = optional(place, 'extensions', object)
  return {
    ...(user && { safety_identifier: user }),
    ...(tier !== undefined && tier !== 'auto' && { service_tier: tier }),
    ...(extensions && { extensions }),
  }
}

const readUser: Read<string | undefined> = (value, path) => optional({ body: object(value, path), path }, 'user_id', text)

/** Fields that are read above, in client.ts or in ../routing-options.ts. */
const known: ReadonlySet<string> = new Set([
  'model',
  'gateway',
  'stream',
  'max_tokens',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'output_config',
  'thinking',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'extensions',
])

const unknownOf = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([field, value]) => !known.has(field) && value !== undefined && value !== null))

const newest = '2026-10-21'
const versions: ReadonlySet<string> = new Set(['2023-06-01', newest])

/** It goes into a header of ours: no line may end in it. */
const betas = /^[\x20-\x7e]{1,4000}$/

type Header = (name: string) => string | undefined

/** `anthropic-version` and `anthropic-beta`: for a provider of the same language. */
export function readHeaders(header: Header): Pick<InferenceRequest, 'headers'> {
  const version = header('anthropic-version')
  const beta = header('anthropic-beta')
  if (version && !versions.has(version)) {
    refuse('invalid_parameter_value', `\`anthropic-version\` must be one of ${[...versions].join(', ')}, or left out.`, 'anthropic-version')
  }
  if (beta && !betas.test(beta)) {
    refuse('invalid_parameter_value', '`anthropic-beta` must be a list of names with commas between them.', 'anthropic-beta')
  }
  if (!version && !beta) return {}
  return { headers: { dialect, values: { ...(version && { 'anthropic-version': version }), ...(beta && { 'anthropic-beta': beta }) } } }
}

/** What the newest version has taken out of the language. Of a body that has been read. */
export function checkVersion(body: JsonObject, { headers }: Pick<InferenceRequest, 'headers'>): void {
  if (headers?.values['anthropic-version'] !== newest) return
  for (const field of ['temperature', 'top_p', 'top_k']) {
    const value = body[field]
    if (value !== undefined && value !== null) gone(`\`${field}\``, field)
  }
  for (const [at, { role, content }] of objects(body.messages).entries()) {
    for (const [number, block] of objects(content).entries()) {
      const path = `messages[${at}].content[${number}]`
      if (role === 'assistant' && block.type === 'document') gone('A `document` block in a message of the assistant', path)
      if (role === 'user' && block.type === 'text' && objects(block.citations).length > 0) {
        gone('`citations` on a text of the user', `${path}.citations`)
      }
    }
  }
}

const gone = (what: string, param: string): never =>
  refuse('invalid_parameter_value', `${what} does not exist any more in version ${newest} of this language.`, param)
