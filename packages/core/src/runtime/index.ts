export type { Awaitable } from '@signalbox/storage'
export { isPromise } from '@signalbox/storage/awaitable'
export { once } from './once.ts'
export type {
  CallFacts,
  Clock,
  Hooks,
  Ids,
  Logger,
  MediaFound,
  MediaReader,
  SettledFacts,
  Transport,
  TransportReply,
  TransportRequest,
} from './ports.ts'
export { asIterator, asSource, sourceOf } from './source.ts'
export { runSteps, type Step, wait } from './steps.ts'
export { handOver } from './wait-until.ts'
export { consoleLogger, webClock, webIds, webTransport } from './web.ts'
