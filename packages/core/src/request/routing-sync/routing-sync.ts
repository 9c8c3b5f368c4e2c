import { createRandom, randomSeed } from '@signalbox/router'
import { createStateSync, type StateSync } from '@signalbox/router/sync'
import type { RoutingStore } from '@signalbox/storage'
import { createLastingTimer } from '../../runtime/lasting-timer.ts'
import type { Clock, Ids, Logger } from '../../runtime/ports.ts'
import { createSingleRun } from '../../runtime/single-run.ts'
import { createStoreExchange, type StoreExchange } from './store-exchange.ts'

/** Shares routing statistics with other processes while requests run, without delaying them. */
export interface RoutingSync {
  /** Passed to the router as `sync`. */
  readonly state: StateSync
  /** Called when a request was admitted: starts exchanging. */
  resume(): void
  /** Called when the last running request has ended: stops exchanging. */
  pause(): void
  /** Looks up which offers have cached a conversation that is unknown here. Undefined if there is nothing to wait for. Never rejects. */
  lookUpReaders(cacheKey: string | undefined): Promise<void> | undefined
  /** Publishes everything that has not been published, and stops. */
  close(): Promise<void>
}

export interface RoutingSyncOptions {
  readonly store: RoutingStore
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** Milliseconds between two exchanges, random each time, so that processes that start together do not keep exchanging together. */
const exchangeMs = { min: 5_000, max: 15_000 } as const
/** An exchange that takes longer counts as dropped with the request whose timer started it. */
const maxExchangeMs = 20_000
/** Milliseconds for which urgent updates are collected before they are published together. */
const urgentDelayMs = 250

/** Creates the exchange of routing statistics through a storage. */
export function createRoutingSync({ store, clock, ids, logger }: RoutingSyncOptions): RoutingSync {
  // Name and seed are drawn on first use, because some runtimes have no randomness before their first request.
  const writer = once(() => ids.hex(16))
  const random = once(() => createRandom(randomSeed(ids)))
  const state = createStateSync({ writer, onUrgent: () => schedule.publishSoon() })
  const exchange = createStoreExchange({ store, sync: state, writer, clock, logger })
  const schedule = createSchedule({ exchange, clock, chance: () => random()() })
  return {
    state,
    resume: schedule.resume,
    pause: schedule.pause,
    lookUpReaders(cacheKey) {
      const isUnknown =
        cacheKey !== undefined && schedule.isOpen() && !exchange.isFailing() && state.isConversationUnknown(cacheKey, clock.monotonic())
      return isUnknown ? exchange.lookUpReaders(cacheKey) : undefined
    },
    async close() {
      // Without a request nothing was learned.
      if (await schedule.close()) await exchange.publishAll()
    },
  }
}

/** The schedule on which statistics are exchanged. */
interface Schedule extends Pick<RoutingSync, 'resume' | 'pause'> {
  /** Called for urgent updates. */
  publishSoon(): void
  isOpen(): boolean
  /** Resolves to whether anything was exchanged and the schedule was not closed before. */
  close(): Promise<boolean>
}

interface ScheduleOptions {
  readonly exchange: StoreExchange
  readonly clock: Clock
  readonly chance: () => number
}

function createSchedule({ exchange, clock, chance }: ScheduleOptions): Schedule {
  let isOpen = true
  let isBusy = false
  let dueAt = Number.NEGATIVE_INFINITY
  const timer = createLastingTimer(clock, () => tick())
  const urgentTimer = createLastingTimer(clock, () => publishNow())
  const exchanges = createSingleRun(clock, maxExchangeMs)

  const begin = (): void => {
    dueAt = clock.monotonic() + exchangeMs.min + (exchangeMs.max - exchangeMs.min) * chance()
    void exchanges.begin(exchange.exchange)
  }
  const tick = (): void => {
    if (clock.monotonic() >= dueAt) begin()
    // Whole milliseconds, so that the timer does not fire before `dueAt` by a clock with lower resolution.
    timer.set(Math.ceil(dueAt - clock.monotonic()))
  }
  const publishNow = (): void => {
    urgentTimer.clear()
    // While the store fails, updates wait for the next exchange, which checks whether the store is available again.
    if (!exchange.isFailing()) void exchange.publishUrgent()
  }
  const stopTimers = (): void => {
    timer.clear()
    if (urgentTimer.isSet()) publishNow()
    isBusy = false
  }
  return {
    resume() {
      if (!isOpen || (isBusy && timer.isSet())) return
      isBusy = true
      tick()
    },
    pause() {
      if (!isBusy) return
      stopTimers()
      if (clock.monotonic() >= dueAt) begin()
    },
    publishSoon() {
      if (!isOpen || exchange.isFailing()) return
      if (isBusy) urgentTimer.set(urgentDelayMs)
      else publishNow()
    },
    isOpen: () => isOpen,
    async close() {
      if (!isOpen) return false
      stopTimers()
      isOpen = false
      await exchanges.ended()
      return dueAt !== Number.NEGATIVE_INFINITY
    },
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
