import type { CounterStore } from '@signalbox/storage'
import type { CounterRefusal, CounterRequest } from '@signalbox/storage/counters'
import { faultOfAdd, faultOfSlot, faultOfTake } from '@signalbox/storage/faults'
import { makeSweeper } from './sweeper.ts'

interface Counter {
  used: number
  endsAt: number
}
/** The slots of one key. */
interface SlotRoom {
  readonly endsAtBySlot: Map<string, number>
  /** No slot ends before this, and none after `latest`. A full room is only searched if one of them shows that it may help. */
  soonest: number
  latest: number
}

/** Windows and slots. `memoryCounters().take([{ key: 'rpm:key_1', amount: 1, limit: 60, windowMs: 60_000 }], at)` */
export function memoryCounters(): CounterStore {
  const counters = new Map<string, Counter>()
  const rooms = new Map<string, SlotRoom>()
  const sweepCounters = makeSweeper(counters, (counter, at) => counter.endsAt <= at)
  const sweepRooms = makeSweeper(rooms, (room, at) => clear(room, at, Number.POSITIVE_INFINITY) === 0)
  return {
    take(requests, at) {
      const fault = faultOfTake(requests, at)
      if (fault) throw fault
      sweepCounters(at)
      const refusal = refusalOf(counters, requests, at)
      if (refusal) return refusal
      for (const request of requests) addToCounter(counters, request, at)
      return undefined
    },
    add(key, amount, at) {
      const fault = faultOfAdd(amount, at)
      if (fault) throw fault
      const counter = counters.get(key)
      if (counter && counter.endsAt > at) counter.used = Math.max(0, counter.used + amount)
    },
    enter(request, at) {
      const fault = faultOfSlot(request, at)
      if (fault) throw fault
      sweepRooms(at)
      const { key, slot, limit, ttlMs } = request
      const room = rooms.get(key) ?? openRoom(rooms, key)
      const isInside = (room.endsAtBySlot.get(slot) ?? at) > at
      if (!isInside && room.endsAtBySlot.size >= limit && clear(room, at, at + ttlMs) >= limit) return false
      room.endsAtBySlot.set(slot, at + ttlMs)
      room.soonest = Math.min(room.soonest, at + ttlMs)
      room.latest = Math.max(room.latest, at + ttlMs)
      return true
    },
    leave(key, slot) {
      const room = rooms.get(key)
      room?.endsAtBySlot.delete(slot)
      if (room?.endsAtBySlot.size === 0) rooms.delete(key)
    },
  }
}

function refusalOf(counters: Map<string, Counter>, requests: readonly CounterRequest[], at: number): CounterRefusal | undefined {
  for (let index = 0; index < requests.length; index++) {
    const request = requests[index]
    if (!request) continue
    const { key, amount, limit, windowMs } = request
    const counter = counters.get(key)
    const isOpen = counter !== undefined && isCounting(counter, at, windowMs)
    let used = isOpen ? counter.used : 0
    // A list may contain a counter twice: earlier amounts count for later ones.
    for (let before = 0; before < index; before++) if (requests[before]?.key === key) used += requests[before]?.amount ?? 0
    if (used + amount <= limit) continue
    if (!isOpen) return { key, retryAfterMs: windowMs }
    counter.endsAt = Math.min(counter.endsAt, at + windowMs)
    return { key, retryAfterMs: counter.endsAt - at }
  }
  return undefined
}

/** Whether a window is neither over nor void. One that ends too late was started before the clock was set back. */
const isCounting = ({ endsAt }: Counter, at: number, windowMs: number): boolean => endsAt > at && endsAt <= at + 2 * windowMs

function addToCounter(counters: Map<string, Counter>, { key, amount, windowMs }: CounterRequest, at: number): void {
  const counter = counters.get(key)
  if (!counter) {
    counters.set(key, { used: amount, endsAt: at + windowMs })
  } else if (isCounting(counter, at, windowMs)) {
    counter.used += amount
    counter.endsAt = Math.min(counter.endsAt, at + windowMs)
  } else {
    counter.used = amount
    counter.endsAt = at + windowMs
  }
}

function openRoom(rooms: Map<string, SlotRoom>, key: string): SlotRoom {
  const room = { endsAtBySlot: new Map<string, number>(), soonest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY }
  rooms.set(key, room)
  return room
}

/** Frees expired slots, lets none last beyond `latest`, and returns how many remain. */
function clear(room: SlotRoom, at: number, latest: number): number {
  if (at < room.soonest && room.latest <= latest) return room.endsAtBySlot.size
  room.soonest = Number.POSITIVE_INFINITY
  room.latest = Number.NEGATIVE_INFINITY
  for (const [slot, end] of room.endsAtBySlot) {
    const endsAt = Math.min(end, latest)
    if (endsAt <= at) {
      room.endsAtBySlot.delete(slot)
      continue
    }
    if (endsAt < end) room.endsAtBySlot.set(slot, endsAt)
    room.soonest = Math.min(room.soonest, endsAt)
    room.latest = Math.max(room.latest, endsAt)
  }
  return room.endsAtBySlot.size
}
