import { describe, expect, test } from 'vitest'
import type { ProviderDialect, ResponseMetadata } from '../src/protocol/dialect.ts'
import type { InferenceEvent } from '../src/protocol/event.ts'
import { fold, unfold } from '../src/protocol/fold.ts'
import type { Item } from '../src/protocol/item.ts'
import type { Offer } from '../src/protocol/model.ts'
import type { InferenceRequest, Prompt } from '../src/protocol/request.ts'
import type { InferenceResponse, Usage } from '../src/protocol/response.ts'
import type { Frame, JsonObject } from '../src/protocol/wire.ts'
import { responsesClient } from '../src/responses/client.ts'
import { readFrames } from '../src/sse/read.ts'

// The laws of a dialect: what has to hold whatever a provider sends. Everyone who adds a dialect runs them.

export interface Sample {
  readonly name: string
  readonly text: string
  readonly frames: readonly Frame[]
  /** As they are sent, where that is no text. */
  readonly bytes?: Uint8Array
  /** The whole answer of the same run. */
  readonly whole?: JsonObject
}

export const metadataOf = (facts: Partial<ResponseMetadata> = {}): ResponseMetadata => {
  let minted = 0
  return { id: 'resp_ours', model: 'model', created_at: 1, itemId: prefix => `${prefix}_${++minted}`, warnings: [], ...facts }
}

const request: InferenceRequest = {
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  routing: { models: ['model'], allow_fallbacks: true },
  delivery: 'stream',
}

export const offer: Offer = { provider: 'somewhere', model: 'their-model', api: 'any' }

export const decode = (dialect: ProviderDialect, frames: readonly Frame[]): readonly InferenceEvent[] => {
  const decoder = dialect.decodeEvents()
  return [...decoder.read(frames), ...decoder.end()]
}

export const encode = (
  events: readonly InferenceEvent[],
  asked: InferenceRequest = request,
  facts: Partial<ResponseMetadata> = {},
): readonly Frame[] => {
  const metadata = metadataOf(facts)
  return responsesClient.encodeEvents(asked, () => metadata).write(events)
}

/** Without what is remembered beside a value. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** What an answer says, whoever named its pieces. */
export const said = ({ output, outcome, usage }: InferenceResponse): unknown =>
  plain({ status: outcome.status, usage, output: output.map(item => withoutId(item)) })

/** What only another dialect can say does not reach the caller. */
export const withoutStrangers = ({ usage, ...response }: InferenceResponse): InferenceResponse => ({
  ...response,
  ...(usage && { usage: withoutOptions(usage) }),
  output: response.output.filter(item => item.type !== 'native' || item.dialect === responsesClient.name),
})

const withoutOptions = ({ options: _, service_tier: _tier, extra_steps: _steps, ...usage }: Usage): Usage => usage

const withoutId = (item: Item): unknown => {
  const { id, ...rest } = (item.type === 'native' ? item.body : item) as { readonly id?: string }
  return rest
}

/** What is sealed is sealed anew each time it is sent. */
export const unsealed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner) => (key === 'encrypted_content' || key === 'fingerprint' ? 'sealed' : inner)))

/** Every rule of event.ts, as sentences about what breaks it. */
export function faultsOf(events: readonly InferenceEvent[]): readonly string[] {
  const faults: string[] = []
  const open = new Map<number, { readonly summary: string[]; readonly content: string[] }>()
  const finished = new Set<number>()
  events.forEach((event, at) => {
    if ((event.type === 'started') !== (at === 0)) faults.push(`${at}: started must be the first and only the first`)
    if ((event.type === 'finished') !== (at === events.length - 1)) faults.push(`${at}: finished must be the last and only the last`)
    if (event.type === 'item_started') {
      if (event.index !== open.size) faults.push(`${at}: item ${event.index} starts where ${open.size} was due`)
      open.set(event.index, { summary: [], content: [] })
    }
    if (event.type === 'delta' || event.type === 'item_finished') {
      if (!open.has(event.index)) faults.push(`${at}: item ${event.index} was never started`)
      if (finished.has(event.index)) faults.push(`${at}: item ${event.index} was finished before`)
    }
    if (event.type === 'delta' && event.delta.kind !== 'annotation') {
      const parts = open.get(event.index)?.[event.delta.kind === 'summary' ? 'summary' : 'content']
      if (parts) parts[event.delta.part] = (parts[event.delta.part] ?? '') + event.delta.text
    }
    if (event.type === 'item_finished') {
      finished.add(event.index)
      const told = Object.values(open.get(event.index) ?? {})
        .flat()
        .join('')
      if (event.item.type !== 'native' && told !== wordsOf(event.item))
        faults.push(`${at}: the deltas of item ${event.index} do not add up to it`)
    }
  })
  if (finished.size !== open.size) faults.push('an item was left open')
  return faults
}

const wordsOf = (item: Item): string => {
  if (item.type === 'message')
    return item.content.map(part => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : '')).join('')
  if (item.type === 'function_call') return item.arguments
  return item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])].join('') : ''
}

/** Everything that a prompt can hold, each with a value that is not its default. */
const everyField: Required<Prompt> = {
  input: request.prompt.input,
  instructions: 'Be brief.',
  tools: [
    { type: 'function', name: 'weather', description: 'Tells it', parameters: { type: 'object', properties: {} }, strict: true },
    { type: 'native', dialect: 'elsewhere', body: { type: 'crystal_ball' } },
  ],
  tool_choice: { type: 'function', name: 'weather' },
  parallel_tool_calls: false,
  max_output_tokens: 77,
  max_tool_calls: 3,
  temperature: 0.3,
  top_p: 0.4,
  top_k: 5,
  top_logprobs: 6,
  frequency_penalty: 0.7,
  presence_penalty: 0.8,
  text: { format: { type: 'json_object' }, verbosity: 'low' },
  reasoning: { effort: 'high', summary: 'detailed' },
  truncation: 'auto',
  metadata: { colour: 'red' },
  include: ['code_interpreter_call.outputs'],
  user: 'somebody',
  safety_identifier: 'safe',
  prompt_cache_key: 'cache-key',
  service_tier: 'flex',
  stop: ['END'],
  seed: 42,
  extensions: { their_own: 1 },
  native: { type: 'native', dialect: 'elsewhere', body: { unheard_of: true } },
}

export interface LawOptions {
  /** Fields that are rightly neither sent nor warned of, each with its reason. */
  readonly silent: Readonly<Record<string, string>>
  /** Where a field goes, if not under its own name. */
  readonly spelled: Readonly<Record<string, string>>
}

export function describeProviderDialect(dialect: ProviderDialect, samples: readonly Sample[], { silent, spelled }: LawOptions): void {
  describe.each(samples)(`${dialect.name}: $name`, ({ frames, text, bytes = new TextEncoder().encode(text), whole }) => {
    const events = decode(dialect, frames)
    const response = fold(events)

    test('its events stand in legal order, and deltas add up to their items', () => {
      expect(faultsOf(events)).toEqual([])
    })

    test('a response unfolds to events that fold to it (law 1)', () => {
      expect(plain(fold(unfold(response)))).toEqual(plain(response))
      expect(faultsOf(unfold(response))).toEqual([])
    })

    test('it reads the same however its bytes were cut (law 2)', () => {
      const steps = bytes.length < 60_000 ? [1, 2, 7, 64, 1009] : [7, 4093]
      for (const step of steps) {
        const reader = dialect.frames?.() ?? readFrames()
        const decoder = dialect.decodeEvents()
        const told: InferenceEvent[] = []
        for (let at = 0; at < bytes.length; at += step) told.push(...decoder.read(reader.push(bytes.subarray(at, at + step))))
        told.push(...decoder.read(reader.end()), ...decoder.end())
        expect(plain(told)).toEqual(plain(events))
      }
    })

    test('wherever it breaks off, it begins once and ends once (law 3)', () => {
      const step = Math.max(1, Math.floor(frames.length / 60))
      for (let at = 0; at < frames.length; at += step) {
        const told = decode(dialect, frames.slice(0, at))
        expect(faultsOf(told)).toEqual([])
        expect(told.at(-1)).toMatchObject({ type: 'finished' })
      }
    })

    test('encoded for a caller and decoded again, it says the same (law 4)', () => {
      const again = decode(roundTrip, encode(events))
      expect(faultsOf(again)).toEqual([])
      expect(said(withoutStrangers(fold(again)))).toEqual(said(withoutStrangers(response)))
    })

    if (whole)
      test('whole and streamed, one answer is one answer (law 6)', () => {
        expect(unsealed(said(dialect.decodeResponse(whole)))).toEqual(unsealed(said(response)))
      })
  })

  describe(`${dialect.name}: requests`, () => {
    test.each(Object.keys(everyField).filter(field => field !== 'input'))('%s is in the body or named in a warning (law 7)', field => {
      const bare = dialect.encodeRequest(
        { ...request, prompt: { input: everyField.input, tools: everyField.tools.slice(0, 1) } },
        offer,
        {},
      )
      const prompt = { input: everyField.input, tools: everyField.tools.slice(0, 1), [field]: everyField[field as keyof Prompt] } as Prompt
      const { body, warnings } = dialect.encodeRequest({ ...request, prompt }, offer, {})
      const isSent = JSON.stringify(body) !== JSON.stringify(bare.body)
      const isNamed = warnings.some(({ param }) => param?.startsWith(field === 'native' ? 'unheard_of' : field))
      expect({ field, reached: isSent || isNamed || field in silent }).toEqual({ field, reached: true })
      if (spelled[field] !== undefined) expect(Object.keys(body)).toContain(spelled[field])
    })

    test('a frozen request is encoded twice to equal bodies (law 8)', () => {
      const frozen = deepFreeze({ ...request, prompt: everyField })
      expect(dialect.encodeRequest(frozen, offer, {})).toEqual(dialect.encodeRequest(frozen, offer, {}))
    })
  })
}

/** Set by the test file, so that this one knows no dialect but the callers'. */
let roundTrip: ProviderDialect

export const readBackWith = (dialect: ProviderDialect): void => {
  roundTrip = dialect
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
