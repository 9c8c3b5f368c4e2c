import type { Transport } from '@signalbox/core/runtime'
import { describe } from 'vitest'
import { describeAnswers } from './adapter/answers.ts'
import { describeBodyLimit, describeLargeBodies, smallLimit } from './adapter/bodies.ts'
import { describeLeaving } from './adapter/leaving.ts'
import { describeManners } from './adapter/manners.ts'
import { createFixture, type StartAdapter } from './adapter/setting.ts'

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
      const setting = createFixture({ start, ...more })
      describe('answers', () => describeAnswers(setting))
      describe('leaving', () => describeLeaving(setting))
      describe('large bodies', () => describeLargeBodies(setting))
      describe('manners', () => describeManners(setting))
    })
    describe(`with a limit of ${smallLimit} bytes`, () => {
      const setting = createFixture({ start, options: { bodyBytes: smallLimit }, ...more })
      describeBodyLimit(setting)
    })
  })
}
