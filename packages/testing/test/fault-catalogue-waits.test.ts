import type { BuiltInDialect } from '@signalbox/dialects'
import { nodeTransport, serve } from '@signalbox/node-http'
import { describe, expect, inject, test } from 'vitest'
import { addressFaults } from '../src/chaos/addresses.ts'
import { builtInDialects, expectedOf, type Fault, type Mode } from '../src/chaos/expect.ts'
import { faults } from '../src/chaos/faults.ts'
import { chaosProvider } from '../src/chaos-provider.ts'
import { testGateway } from '../src/gateway.ts'
import { responsesCaller } from './callers.ts'
import { ask, build, checkAsWritten, checkAtRest, describeCatalogue, hangingMs, impatient, rowOf } from './catalogue.ts'

// Faults that last until the gateway gives up, and those that need a connection or a testbed of their own: all of them wait, and
// so they wait together.

const modes: readonly Mode[] = ['whole', 'stream']

describe('rows that last until the gateway gives up', () => {
  describeCatalogue(builtInDialects, ({ needs, hangs }) => needs === undefined && hangs === true, { timeouts: impatient })
})

/** What a connection does next depends on no dialect: the usual run has one. */
const dialectsOf = ({ dialects }: Fault): readonly BuiltInDialect[] => (inject('isLongRun') ? dialects : dialects.slice(0, 1))

const own = faults.filter(({ needs }) => needs === 'warm connection' || needs === 'own connection')
const onOneConnection = own.flatMap(fault =>
  dialectsOf(fault).flatMap(dialect => fault.applies.map(mode => ({ row: fault.row, name: fault.name, fault, dialect, mode }))),
)

test.concurrent.for(onOneConnection)(
  'row $row, $name, a provider of $dialect, $mode: each request on the connection gets its own response',
  async ({ fault, dialect, mode }) => {
    const testbed = await build({ dialect, fallback: false, mode, caller: responsesCaller })
    for (let request = 0; request < 3; request += 1) {
      const answer = await ask(testbed, fault)
      const expected = expectedOf(fault, dialect, mode)
      if (expected) checkAsWritten(responsesCaller.read(answer), await rowOf(testbed, answer), expected)
      // Longer than the beat after which the provider misbehaves.
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await checkAtRest(testbed)
    await testbed.close()
  },
)

// No provider is reached, so the dialect does not matter.
test.concurrent.for(addressFaults.flatMap(fault => modes.map(mode => ({ row: fault.row, name: fault.name, mode, fault }))))(
  'row $row, $name, $mode: an unreachable base URL',
  async ({ fault, mode }) => {
    const [deadEnd, sound] = await Promise.all([fault.open(), chaosProvider()])
    const routing = fault.hangs ? { timeout_ms: hangingMs } : {}
    for (const servers of [[deadEnd], [deadEnd, sound]]) {
      const testbed = await testGateway({ servers, transport: nodeTransport() })
      const server = await serve(testbed.gateway, { port: 0 })
      const response = await fetch(`${server.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', input: 'Hello.', stream: mode === 'stream', gateway: { routing } }),
      })
      const answer = { status: response.status, headers: response.headers, text: await response.text() }
      const end = responsesCaller.read(answer)
      const row = await rowOf({ test: testbed }, answer)
      const expected = fault.expect[mode]
      if (servers.length > 1) {
        expect(end.routing).toMatchObject({ provider: 'server-2' })
        expect(row).toMatchObject({ provider: 'server-2', result: 'ok', attempts: 2 })
      } else if (expected) checkAsWritten(end, row, expected)
      await server.close()
      await testbed.close()
    }
    await Promise.all([deadEnd.close(), sound.close()])
  },
)
