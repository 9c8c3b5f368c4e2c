import type { Transport } from '@signalbox/dialects/protocol'
import { describe } from 'vitest'
import { describeAnswers } from './adapter/answers.ts'
import { describeBodyLimit, describeLargeBodies, smallLimit } from './adapter/bodies.ts'
import { describeDisconnects } from './adapter/disconnects.ts'
import { createFixture, type StartAdapter } from './adapter/fixture.ts'
import { describeHttpSemantics } from './adapter/http-semantics.ts'

/**
 * Conformance suite for server adapters, over real sockets: whole and streamed responses, backpressure, disconnects, limits, and HTTP
 * semantics. `start` serves the gateway on a free port of 127.0.0.1, and must apply the given body limit.
 *
 * @example
 * describeAdapter('node-http', (gateway, options) => serve(gateway, { port: 0, ...options }))
 */
export function describeAdapter(name: string, start: StartAdapter, more: { readonly transport?: () => Transport } = {}): void {
  describe(`${name}, as a server adapter`, () => {
    describe('with the usual limits', () => {
      const fixture = createFixture({ start, ...more })
      describe('answers', () => describeAnswers(fixture))
      describe('disconnects', () => describeDisconnects(fixture))
      describe('large bodies', () => describeLargeBodies(fixture))
      describe('http semantics', () => describeHttpSemantics(fixture))
    })
    describe(`with a limit of ${smallLimit} bytes`, () => {
      const fixture = createFixture({ start, options: { maxBodyBytes: smallLimit }, ...more })
      describeBodyLimit(fixture)
    })
  })
}
