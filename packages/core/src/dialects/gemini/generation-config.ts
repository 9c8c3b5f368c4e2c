import type { Quirks } from '../../protocol/model.ts'
import type { Prompt, TextFormat } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import type { Json, JsonObject } from '../../protocol/wire.ts'
import { type Encoded, unsupported } from '../apply-quirks.ts'
import { schemaWarnings } from '../fit-schemas.ts'

// `generationConfig`: the settings of an answer, and its shape.

/** Settings under our names, so that what an offer refuses is named as the caller knows it. */
const settings = [
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
] as const satisfies readonly (keyof Prompt)[]

const spelled: ReadonlyMap<string, string> = new Map<(typeof settings)[number], string>([
  ['max_output_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['stop', 'stopSequences'],
  ['seed', 'seed'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
])

export const wantsLogprobs = 'message.output_text.logprobs'
const mostStops = 5

export function readSettings(prompt: Prompt): Encoded {
  const { stop = [], top_logprobs = 0, include = [] } = prompt
  const asked = top_logprobs > 0 || include.includes(wantsLogprobs)
  const body: Record<string, Json | undefined> = {}
  for (const field of settings) if (prompt[field] !== undefined) body[field] = prompt[field]
  return {
    body: {
      ...body,
      stop: stop.length > 0 ? stop.slice(0, mostStops) : undefined,
      top_logprobs: asked ? top_logprobs : undefined,
    },
    warnings:
      stop.length > mostStops
        ? [unsupported('stop', `Only ${mostStops} stop sequences are taken here; the first ${mostStops} were sent.`)]
        : [],
  }
}

/** What this offer refuses of this request, under our names. */
export function refusedBy(quirks: Quirks, { reasoning, temperature }: Prompt): readonly string[] {
  const { sampling, refuses = [], thinks_unasked = true, thinking_off } = quirks
  const known = refuses.includes('logprobs') ? [...refuses, 'top_logprobs'] : refuses
  const all = [...known, 'temperature', 'top_p', 'top_k']
  const effort = reasoning?.effort
  const thinks = effort === undefined ? thinks_unasked : effort !== 'none' || thinking_off === 'never'
  if (sampling === 'none' || (sampling === 'unless_thinking' && thinks)) return all
  return sampling === 'one' && temperature !== undefined ? [...known, 'top_p'] : known
}

export function writeSettings({ top_logprobs, ...read }: JsonObject): JsonObject {
  const written = Object.entries(read).flatMap(([field, value]) => {
    const name = spelled.get(field)
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  const odds = top_logprobs === undefined ? {} : { responseLogprobs: true, ...(Number(top_logprobs) > 0 && { logprobs: top_logprobs }) }
  return { ...Object.fromEntries(written), ...odds }
}

export interface WrittenFormat {
  readonly fields: JsonObject
  /** What the model must be told in words, where it cannot be held to a shape. */
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

const json = { responseMimeType: 'application/json' }

export function writeFormat({ text, tools = [] }: Prompt, quirks: Quirks, schemas: SchemaFitter): WrittenFormat {
  const format = text?.format
  if (!format || format.type === 'text') return { fields: {}, warnings: [] }
  const beside = quirks.json_schema_without_tools === true && tools.some(({ type }) => type === 'function')
  const inWords = beside || (quirks.json_schema !== undefined && quirks.json_schema !== 'native')
  if (inWords) return { fields: {}, instruction: wordsFor(format), warnings: [beside ? notBeside : notEnforced] }
  if (format.type === 'json_object') return { fields: json, warnings: [] }
  const fit = schemas.fit(format.schema, 'gemini')
  return { fields: { ...json, responseJsonSchema: fit.schema }, warnings: schemaWarnings('text.format.schema', fit) }
}

const notEnforced = unsupported('text.format', 'This model cannot be held to a format; it was told of it in words.')
const notBeside = unsupported('text.format', 'This model takes no format beside tools; it was told of it in words.')

const wordsFor = (format: Exclude<TextFormat, { type: 'text' }>): string =>
  format.type === 'json_object'
    ? 'Answer with one JSON object, and with nothing else.'
    : `Answer with one JSON object that fits this JSON schema (${format.name}), and with nothing else:\n${JSON.stringify(format.schema)}`
