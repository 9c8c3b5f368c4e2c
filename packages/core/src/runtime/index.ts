export type { CallFacts, Clock, Hooks, Ids, Logger, SettledFacts, Transport, TransportReply, TransportRequest } from './ports.ts'
export { consoleLogger, webClock, webIds, webTransport } from './web.ts'
