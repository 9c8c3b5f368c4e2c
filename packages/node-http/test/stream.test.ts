import { GatewayError } from '@signalbox/dialects/errors'
import { describe, expect, test } from 'vitest'
import { delta, finished } from '../../api/test/fake-gateway.ts'
import { sleep } from './raw.ts'
import { batchesOf, start, stream } from './running.ts'

describe('a stream', () => {
  test('has whole events, one write per batch, without [DONE]', async () => {
    const running = await start()
    running.act = () => ({ batches: () => batchesOf([[delta('a'), delta('b')], [delta('c')], [finished]]) })
    const response = await stream(running.url)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const text = await response.text()
    expect(text.match(/^event: .*\ndata: .*\n\n/gm)?.length).toBe(4)
    expect(text).not.toContain('[DONE]')
    expect(running.lines[0]).toMatchObject({ status: 200 })
  })

  test('that fails before first content is an HTTP error', async () => {
    const running = await start()
    running.act = () => ({ commit: Promise.reject(new GatewayError('provider_timeout', { message: 'late' })) })
    const response = await stream(running.url)
    expect([response.status, response.headers.get('content-type')]).toEqual([504, 'application/json'])
  })

  test('held too long opens with 200 and comments, and may still succeed', async () => {
    const running = await start({ firstContentWaitMs: 30, keepAliveMs: 25 })
    const commit = Promise.withResolvers<void>()
    running.act = () => ({ commit: commit.promise, batches: () => batchesOf([[delta('a')], [finished]]) })
    const response = await stream(running.url)
    expect(response.status).toBe(200)
    let text = ''
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      if (text.split(': keep-alive').length > 3) commit.resolve()
    }
    expect(text).toMatch(/^(?:: keep-alive\n\n){3,}event: response\.delta\ndata: \{"delta":"a"\}\n\nevent: response\.completed\n/)
  })

  test('that was held too long and then fails has the error in the stream, and ends', async () => {
    const running = await start({ firstContentWaitMs: 30, keepAliveMs: 25 })
    running.act = () => ({
      commit: sleep(80).then(() => Promise.reject(new GatewayError('provider_error', { message: 'all down', provider: 'p' }))),
    })
    const response = await stream(running.url)
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toMatch(
      /^(?:: keep-alive\n\n)+event: response\.started\n.*\n\nevent: response\.failed\ndata: .*"message":"all down","code":"provider_error".*\n\n$/,
    )
    expect(running.lines[0]).toMatchObject({ status: 200, code: 'provider_error' })
  })

  test('sends comments during silence, and only then', async () => {
    const running = await start({ keepAliveMs: 40 })
    running.act = () => {
      let at = 0
      return {
        batches: () => ({
          next: async () => {
            await sleep(at === 3 ? 130 : 10)
            return at++ < 5 ? { done: false, value: [delta(String(at))] } : { done: true, value: undefined }
          },
        }),
      }
    }
    const text = await (await stream(running.url)).text()
    expect(text.match(/: keep-alive/g)?.length).toBeGreaterThanOrEqual(2)
    expect(text.indexOf(': keep-alive')).toBeGreaterThan(text.indexOf('"3"'))
    expect(text.match(/"delta"/g)?.length).toBe(5)
  })

  test('with a batch that fails to be read or encoded ends with an error event', async () => {
    const running = await start()
    let at = 0
    running.act = () => ({
      batches: () => ({
        next: async () => (at++ === 0 ? { done: false, value: [delta('a')] } : Promise.reject(new Error('a bug at /srv/x.ts'))),
      }),
    })
    const text = await (await stream(running.url)).text()
    expect(text).toMatch(/"delta":"a".*\n\nevent: response\.failed\n/)
    expect(text).not.toContain('/srv')
    expect(running.errors.length).toBe(1)
  })
})
