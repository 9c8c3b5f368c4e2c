import { createFetchHandler } from '@signalbox/fetch-handler'
import { nodeTransport, serve } from '@signalbox/node-http'
import { describeAdapter } from '../src/suites.ts'
import { serveFetch } from './fetch-server.ts'

describeAdapter('node-http', (gateway, options) => serve(gateway, { ...options, port: 0 }), { transport: () => nodeTransport() })
describeAdapter('node-http over the fetch of the runtime', (gateway, options) => serve(gateway, { ...options, port: 0 }))
describeAdapter('the fetch handler', (gateway, options) => serveFetch(createFetchHandler(gateway, options)))
