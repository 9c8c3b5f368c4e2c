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
  /** A request was admitted: exchanges from now on. */
  resume(): void
  /** The last running request has ended. */
  pause(): void
  /** Looks up which offers have read a conversation that is unknown here. Undefined: nothing to wait for. Never rejects. */
  lookUpReaders(cacheKey: string | undefined): Promise<void> | undefined
  /** Publishes what was not published yet, and stops. */
  close(): Promise<void>
}

export interface RoutingSyncOptions {
  readonly store: RoutingStore
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** Milliseconds between two exchanges, drawn anew each time: processes that start together must not exchange together for ever. */
const exchangeMs = { min: 5_000, max: 15_000 } as const
/** An exchange that takes longer was dropped with the request whose timer began it. */
const maxExchangeMs = 20_000
/** Urgent news is collected for so long, and then published together. */
const urgentDelayMs = 250

export function createRoutingSync({ store, clock, ids, logger }: RoutingSyncOptions): RoutingSync {
  // Name and seed are drawn at first use: some runtimes have no randomness before their first request.
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

/** When statistics are exchanged. */
interface Schedule extends Pick<RoutingSync, 'resume' | 'pause'> {
  /** Urgent news came. */
  publishSoon(): void
  isOpen(): boolean
  /** Whether anything was exchanged, and it was not closed before. */
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
    // Whole milliseconds, so that a timer is not set for less than a clock can show.
    timer.set(Math.ceil(dueAt - clock.monotonic()))
  }
  const publishNow = (): void => {
    urgentTimer.clear()
    // While the store fails, news waits for the next exchange, which finds out whether the store is back.
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
