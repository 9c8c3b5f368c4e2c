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
export { consoleLogger, webClock, webIds, webTransport } from './web.ts'
