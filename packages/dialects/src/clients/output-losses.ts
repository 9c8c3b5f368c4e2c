import { imageType, imageUrlOf } from '../common/generated-image.ts'
import { stringOf } from '../common/json.ts'
import { outputFeatureOf, outputFeatures } from '../common/output-features.ts'
import type { Item, Part } from '../protocol/item.ts'
import { originalOf } from '../protocol/original.ts'
import type { Unmodeled, Warning } from '../protocol/response.ts'
import { type DialectName, innerDialect, isObject, type JsonObject } from '../protocol/wire.ts'
import type { ClientFacts } from './client-facts.ts'

/** Tracks what the client's dialect cannot express of one response. */
export interface OutputLosses {
  /** Records the losses of a complete item. */
  look(item: Item): void
  /** Records content that no item models. */
  lookBeside(types: Unmodeled): void
  warnings(): readonly Warning[]
  /**
   * A sentence to add to the response, if the client would otherwise see an empty response or miss that it must act. `isEmpty`: no plain
   * text or call was sent.
   */
  sentence(isEmpty: boolean): string | undefined
}

interface LossState {
  readonly client: ClientFacts
  readonly provider: DialectName
  /** Lost features by type. Once the map is full, further types count under `others`. */
  readonly lost: Map<string, number>
  /** Whether non-text content, such as an image, was sent. */
  hasContent: boolean
  isForClient: boolean
}

const maxTypes = 20
const maxTypeLength = 100
const others = 'others'

/** Creates the tracker for one response on its way to a client. */
export function outputLosses(client: ClientFacts, provider: DialectName): OutputLosses {
  const state: LossState = { client, provider, lost: new Map(), hasContent: false, isForClient: false }
  return {
    look: item => lookAtItem(state, item),
    lookBeside: types => {
      if (client.name !== provider) for (const type of types) addLoss(state, type)
    },
    warnings: () => [...state.lost].map(warningFor),
    sentence: isEmpty =>
      state.lost.size > 0 && (state.isForClient || (isEmpty && !state.hasContent)) ? sentenceFor([...state.lost.keys()]) : undefined,
  }
}

function lookAtItem(state: LossState, item: Item): void {
  if (item.type === 'native') lookAtNative(state, item, nativeTypeOf(item.body))
  else if (item.type === 'function_call_output') lookAtType(state, 'function_call_output')
  else if (item.type === 'message') for (const part of item.content) lookAtPart(state, part)
}

function lookAtNative(state: LossState, item: Item & { readonly type: 'native' }, type: string): void {
  if (item.dialect === state.client.name && item.dialect !== innerDialect) state.hasContent = true
  else if (item.dialect !== innerDialect) addLoss(state, type)
  else if (type === imageType && state.client.name !== innerDialect && imageUrlOf(item) === undefined) addLoss(state, type)
  else lookAtType(state, type, item.dialect === state.provider)
}

function lookAtPart(state: LossState, part: Part): void {
  if (part.type === 'native') {
    if (part.dialect !== state.client.name) addLoss(state, nativeTypeOf(part.body))
  } else if (part.type === 'text') {
    for (const annotation of part.annotations ?? []) lookAtAnnotation(state, annotation)
  } else if (part.type !== 'refusal') addLoss(state, part.type)
}

/** An annotation is not lost for clients of the dialect it came in. */
function lookAtAnnotation(state: LossState, annotation: JsonObject): void {
  if (originalOf(annotation)?.dialect !== state.client.name) lookAtType(state, nativeTypeOf(annotation), state.provider === innerDialect)
}

/** `isInner`: it came in the internal dialect, so clients of that dialect always receive it. */
function lookAtType(state: LossState, type: string, isInner = false): void {
  const feature = outputFeatureOf(type)
  const isSent = state.client.outputFidelity?.[feature] !== 'dropped' || (isInner && state.client.name === innerDialect)
  if (isSent) state.hasContent = true
  else {
    addLoss(state, type)
    state.isForClient ||= outputFeatures.get(feature)?.isForClient === true
  }
}

function addLoss({ lost }: LossState, type: string): void {
  const name = lost.has(type) || lost.size < maxTypes ? type : others
  lost.set(name, (lost.get(name) ?? 0) + 1)
}

/** The type as the provider names it; otherwise the name of the field that holds the content. */
const nativeTypeOf = (body: JsonObject): string =>
  (stringOf(body.type) || Object.entries(body).find(([, value]) => isObject(value))?.[0] || 'unknown').slice(0, maxTypeLength)

const warningFor = ([type, count]: readonly [string, number]): Warning => ({
  code: 'output_dropped',
  message: `The answer held ${count === 1 ? '' : `${count} × `}\`${type}\`, which this API does not support; it was left out.`,
})

const sentenceFor = (types: readonly string[]): string =>
  `[The model answered with ${types.map(type => `\`${type}\``).join(', ')}, which this API does not support; it was left out.]`
