import {
  type EventEncoder,
  type InferenceEvent,
  type InferenceRequest,
  type Outcome,
  originalOf,
  type ResponseMetadata,
  type Usage,
} from '@signalbox/dialects/protocol'
import { encodeDelta, openItem, writeItem } from './encode-items.ts'
import { encodeFailure } from './errors.ts'
import type { PartEncoder } from './part-encoder.ts'
import { encodeFinishReason, encodeGatewayMetadata, encodeWarnings, sdkUsage } from './response-fields.ts'
import type { StreamPart } from './wire.ts'

// Encodes events as stream parts. Over HTTP each part is a frame; in process it is passed on unchanged.

/** Encodes the events of one response as parts. */
export interface PartWriter {
  write(events: readonly InferenceEvent[]): readonly StreamPart[]
}

/** Creates the writer of one response. */
export function createPartWriter(request: InferenceRequest, options: Pick<PartEncoder, 'metadata' | 'encodeFailure'>): PartWriter {
  const encoder: PartEncoder = {
    ...options,
    parts: [],
    items: new Map(),
    includesRaw: originalOf(request)?.body.includeRawChunks === true,
    sources: 0,
    hasCalls: false,
    hasRefusal: false,
    phase: 'new',
  }
  return {
    write(events) {
      for (const event of events) encodeEvent(encoder, event)
      const { parts } = encoder
      encoder.parts = []
      return parts
    },
  }
}

/** The encoder of a stream over HTTP. */
export function encodeEvents(request: InferenceRequest, metadata: () => ResponseMetadata): EventEncoder {
  const writer = createPartWriter(request, { metadata, encodeFailure })
  return { write: events => writer.write(events).map(part => ({ data: JSON.stringify(part) })) }
}

function encodeEvent(encoder: PartEncoder, event: InferenceEvent): void {
  if (encoder.phase === 'ended') return
  if (encoder.phase === 'new') beginStream(encoder)
  // The gateway's event instead of the provider's data, which may contain unsealed reasoning state.
  if (encoder.includesRaw) encoder.parts.push({ type: 'raw', rawValue: { ...event } })
  if (event.type === 'item_started') openItem(encoder, event.index, event.item)
  else if (event.type === 'delta') encodeDelta(encoder, event.index, event.delta)
  else if (event.type === 'item_finished') writeItem(encoder, event.index, event.item)
  else if (event.type === 'finished') writeEnd(encoder, event)
}

function beginStream(encoder: PartEncoder): void {
  const { id, model, created_at, warnings } = encoder.metadata()
  encoder.phase = 'started'
  encoder.parts.push(
    { type: 'stream-start', warnings: encodeWarnings(warnings) },
    { type: 'response-metadata', id, modelId: model, timestamp: new Date(created_at * 1_000) },
  )
}

function writeEnd(encoder: PartEncoder, { outcome, usage }: { readonly outcome: Outcome; readonly usage?: Usage }): void {
  encoder.phase = 'ended'
  if (outcome.status === 'failed') encoder.parts.push({ type: 'error', error: encoder.encodeFailure(outcome.error) })
  encoder.parts.push({
    type: 'finish',
    finishReason: encodeFinishReason(outcome, encoder),
    usage: sdkUsage(usage),
    providerMetadata: encodeGatewayMetadata(encoder.metadata()),
  })
}
