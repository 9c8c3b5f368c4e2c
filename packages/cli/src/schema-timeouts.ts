import { whole } from './schema-fields.ts'

// Each is an option of core or of the server with the same name in camel case (server.ts), except `stopTimeouts`.

const minute = 60_000
/** Node's timers take no more. */
const longest = 2_147_483_647

export const gatewayTimeouts = {
  first_byte_ms: whole(1)
    .default(2 * minute)
    .describe('Wait for the first byte of a stream'),
  whole_ms: whole(1)
    .default(5 * minute)
    .describe('Wait for a whole response'),
  deadline_ms: whole(1)
    .default(18 * minute)
    .describe('Time of one request, with retries and fallbacks'),
  idle_ms: whole(1)
    .default(2 * minute)
    .describe('Silence inside a stream'),
}

export const serverTimeouts = {
  body_idle_ms: whole(1).exactOptional().meta({ description: 'Window in which the speed of an upload is judged', default: 15_000 }),
  drain_ms: whole(1).exactOptional().meta({ description: 'How long a client may take no data', default: minute }),
  keep_alive_timeout_ms: whole(1, longest).exactOptional().meta({
    description:
      'How long an idle connection of a client stays open: longer than the [load balancer](deploy.md#load-balancers) keeps its own',
    default: 65_000,
  }),
  headers_timeout_ms: whole(1, longest).exactOptional().meta({ description: 'Wait for the headers of a request', default: 10_000 }),
  request_timeout_ms: whole(1, longest)
    .exactOptional()
    .meta({
      description: 'Wait for a whole request, with its body',
      default: 5 * minute,
    }),
}

/** How the server stops (server.ts). */
export const stopTimeouts = {
  shutdown_ms: whole(0, longest)
    .default(30_000)
    .describe('How long running requests may go on after SIGTERM. Give the platform [10 s more](deploy.md#before-traffic)'),
  flush_ms: whole(0, longest).default(2_000).describe('Wait for the last bytes of finished requests to be sent, when the server stops'),
  after_drain_ms: whole(0, longest)
    .default(30_000)
    .describe('With several workers: how long a replaced worker reads on for clients that have left, after its last connection'),
}
