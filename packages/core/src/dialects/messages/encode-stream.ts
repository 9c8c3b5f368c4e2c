import type { EventEncoder, Stamp } from '../../protocol/dialect.ts'
import type { InferenceEvent } from '../../protocol/event.ts'
import type { Item } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import { type Frame, isObject } from '../../protocol/wire.ts'
import { requestIdOf } from '../ids.ts'
import { writeFailure } from './errors.ts'
import { headOf, isRefusal, stampOn, stopOf, unreadOf, writeUsage } from './encode-response.ts'
import { blockWriter } from './block-writer.ts'
import { isSpoken, type Telling, tellingOf } from './item-writers.ts'
import { dialect, originalBody } from './wire.ts'

// Facts → frames. Blocks follow one another here while our items may overlap: the first that is open speaks, and what the
// others say waits until it is their turn.

interface Speaker {
  readonly index: number
  readonly item: Item
  /** Once it is its turn. */
  telling: Telling | undefined
  readonly waiting: ItemEvent[]
}

/** First come, first told. To find or to take away one of them takes the same time, however many wait. */
interface SpeakerLine {
  join(speaker: Speaker): void
  first(): Speaker | undefined
  next(): void
  find(index: number | undefined): Speaker | undefined
}

function speakerLine(): SpeakerLine {
  let speakers: Speaker[] = []
  let at = 0
  const waiting = new Map<number | undefined, Speaker>()
  return {
    join(speaker) {
      speakers.push(speaker)
      if (!waiting.has(speaker.index)) waiting.set(speaker.index, speaker)
    },
    first: () => speakers[at],
    next() {
      const told = speakers[at]
      at += 1
      if (told && waiting.get(told.index) === told) waiting.delete(told.index)
      if (at === speakers.length) {
        speakers = []
        at = 0
      }
    },
    find: index => waiting.get(index),
  }
}

type ItemEvent = Extract<InferenceEvent, { type: 'delta' | 'item_finished' | 'native' }>
type Finished = Extract<InferenceEvent, { type: 'finished' }>

export function encodeEvents(request: InferenceRequest, stamp: () => Stamp): EventEncoder {
  let frames: Frame[] = []
  let state: 'fresh' | 'begun' | 'ended' = 'fresh'
  let refused = false
  let called = false
  const line = speakerLine()
  const emit = (event: string, data: string): void => {
    frames.push({ event, data })
  }
  const blocks = blockWriter(emit)

  const begin = (event: InferenceEvent): void => {
    state = 'begun'
    const original = event.type === 'started' ? originalBody(event) : undefined
    const message = {
      ...headOf(stamp(), original),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage(undefined, original),
    }
    emit('message_start', JSON.stringify({ type: 'message_start', message }))
  }

  const join = (index: number, item: Item): void => {
    if (!isSpoken(item)) return
    line.join({ index, item, telling: undefined, waiting: [] })
    turn()
  }

  /** Lets the first in line speak, and the next if that one has nothing more to say. */
  const turn = (): void => {
    for (let first = line.first(); first && !first.telling; first = line.first()) {
      first.telling = tellingOf(first.item, blocks)
      for (const event of first.waiting) tell(first, event)
    }
  }

  const tell = ({ telling }: Speaker, event: ItemEvent): void => {
    if (event.type === 'delta') {
      telling?.grow(event.delta)
      return
    }
    if (event.type === 'native') {
      if (event.dialect === dialect && isObject(event.body.delta)) telling?.add?.(event.body.delta)
      return
    }
    telling?.finish(event.item)
    called ||= event.item.type === 'function_call'
    refused ||= isRefusal(event.item)
    line.next()
  }

  const hear = (event: ItemEvent): void => {
    const first = line.first()
    if (!first || first.index !== event.index) {
      line.find(event.index)?.waiting.push(event)
      return
    }
    tell(first, event)
    if (event.type === 'item_finished') turn()
  }

  /** What nobody finished has been told as far as it came. */
  const breakOff = (): void => {
    for (let first = line.first(); first; first = line.first()) {
      first.telling?.finish()
      line.next()
      turn()
    }
  }

  const end = (event: Finished): void => {
    const { outcome, usage } = event
    const ours = stamp()
    if (outcome.status === 'failed') {
      emit('error', JSON.stringify(writeFailure(outcome.error, request, requestIdOf(ours))))
    } else {
      breakOff()
      const original = originalBody(event)
      const message = {
        ...(original && unreadOf(original)),
        type: 'message_delta',
        delta: stopOf(outcome, { refused, called }, original),
        usage: writeUsage(usage, original),
        ...stampOn(ours, request),
      }
      emit('message_delta', JSON.stringify(message))
      emit('message_stop', '{"type":"message_stop"}')
    }
    state = 'ended'
  }

  const take = (event: InferenceEvent): void => {
    if (state === 'ended') return
    // A failure may be the first thing that is said.
    if (state === 'fresh' && !isFailure(event)) begin(event)
    if (event.type === 'item_started') join(event.index, event.item)
    else if (event.type === 'finished') end(event)
    else if (event.type !== 'started') hear(event)
  }

  return {
    write(events) {
      for (const event of events) take(event)
      const written = frames
      frames = []
      return written
    },
  }
}

const isFailure = (event: InferenceEvent): boolean => event.type === 'finished' && event.outcome.status === 'failed'
