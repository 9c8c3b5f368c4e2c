import { toFetchHandler } from '@signalbox/fetch-handler'
import { nodeTransport, serve } from '@signalbox/node-http'
import { inject } from 'vitest'
import { describeAdapter } from '../src/suites.ts'
import { serveFetch } from './fetch-server.ts'

describeAdapter('node-http', (gateway, options) => serve(gateway, { ...options, port: 0 }), { transport: () => nodeTransport() })
// The default run has the fetch of the runtime behind the fetch handler alone.
if (inject('isLongRun'))
  describeAdapter('node-http over the fetch of the runtime', (gateway, options) => serve(gateway, { ...options, port: 0 }))
describeAdapter('the fetch handler', (gateway, options) => serveFetch(toFetchHandler(gateway, options)))
