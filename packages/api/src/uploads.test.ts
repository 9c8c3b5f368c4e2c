import { fakeClock } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { collectBytes, createUploads, watchUpload } from './uploads.ts'

describe('the speed of an upload', () => {
  const limits = { bodyIdleMs: 15_000, bodyBytesPerSecond: 1_000 }

  /** Sends this many bytes at each interval, and returns the time until it was too slow. */
  async function borne(sending: readonly { readonly bytes: number; readonly everyMs: number; readonly forMs: number }[]): Promise<number> {
    const clock = fakeClock()
    let cutAt = Number.POSITIVE_INFINITY
    const upload = watchUpload(clock, limits, () => {
      cutAt = Math.min(cutAt, clock.monotonic())
    })
    for (const { bytes, everyMs, forMs } of sending) {
      for (let passed = 0; passed < forMs; passed += everyMs) {
        upload.heard(bytes)
        await clock.advance(everyMs)
      }
    }
    upload.stop()
    expect(clock.pending()).toBe(0)
    return cutAt
  }

  test('is measured over the last seconds: a fast start does not make up for a slow end', async () => {
    const cutAt = await borne([
      { bytes: 1_000_000, everyMs: 1_000, forMs: 20_000 },
      { bytes: 1, everyMs: 8_000, forMs: 80_000 },
    ])
    expect(cutAt).toBeGreaterThan(30_000)
    expect(cutAt).toBeLessThan(40_000)
  })

  test('is too low if nothing arrives, and for a slow start', async () => {
    expect(await borne([{ bytes: 0, everyMs: 1_000, forMs: 20_000 }])).toBe(15_000)
    expect(await borne([{ bytes: 1, everyMs: 8_000, forMs: 40_000 }])).toBe(15_000)
  })

  test('may be low for as long as it is sufficient, with pauses shorter than the window', async () => {
    expect(await borne([{ bytes: 1_200, everyMs: 1_000, forMs: 600_000 }])).toBe(Number.POSITIVE_INFINITY)
    expect(await borne([{ bytes: 20_000, everyMs: 12_000, forMs: 600_000 }])).toBe(Number.POSITIVE_INFINITY)
  })

  test('is not affected by a stall of this process: a late timer counts as one tick', () => {
    let run = (): void => {}
    let now = 0
    let cut = false
    const clock = {
      now: () => now,
      monotonic: () => now,
      setTimeout: (next: () => void) => {
        run = next
        return 1
      },
      clearTimeout: () => {},
    }
    const upload = watchUpload(clock, limits, () => {
      cut = true
    })
    for (let at = 0; at < 5; at++) {
      upload.heard(20_000)
      now += 60_000
      run()
    }
    expect(cut).toBe(false)
  })
})

describe('the bytes of concurrent bodies', () => {
  const settings = { maxBodyBytes: 100, maxUploadBytesPerWorkspace: 250, maxUploadBytesPerUser: 120, maxUploadBytes: 400 }
  const of = (workspaceId: string) => ({ workspaceId, keyId: 'k' })
  const user = (name: string) => ({ workspaceId: 'a', keyId: `user:${name}`, isEndUser: true as const })

  test('are limited for each key with 429 and for all with 503, each with a time to retry', () => {
    const uploads = createUploads(settings)
    expect([uploads.open(of('a')).claim(100), uploads.open(of('a')).claim(100)]).toEqual([undefined, undefined])
    expect(uploads.open(of('a')).claim(51)).toMatchObject({
      status: 429,
      code: 'concurrent_requests_exceeded',
      facts: { retryAfterMs: 1_000 },
    })
    expect(uploads.open(of('b')).claim(100)).toBeUndefined()
    expect(uploads.open(of('c')).claim(100)).toMatchObject({ status: 503, code: 'service_unavailable', facts: { retryAfterMs: 1_000 } })
  })

  test('are counted as they arrive if their length was not announced, and never twice', () => {
    const uploads = createUploads(settings)
    const upload = uploads.open(of('a'))
    for (let bytes = 1; bytes <= 250; bytes++) expect(upload.claim(bytes)).toBeUndefined()
    expect(upload.claim(100)).toBeUndefined()
    expect(upload.claim(251)?.status).toBe(429)
  })

  test('are released once a body is over, even if that is reported repeatedly', () => {
    const uploads = createUploads(settings)
    for (let at = 0; at < 10; at++) {
      const upload = uploads.open(of('a'))
      expect(upload.claim(250)).toBeUndefined()
      upload.release()
      upload.release()
    }
    const [one, other] = [uploads.open(of('a')), uploads.open(of('b'))]
    expect([one.claim(200), other.claim(125), uploads.open(of('c')).claim(100)?.status]).toEqual([undefined, undefined, 503])
  })

  test('leave room for another workspace, however much a few of them announce', () => {
    const uploads = createUploads({ maxBodyBytes: 100, maxUploadBytesPerWorkspace: 500, maxUploadBytesPerUser: 500, maxUploadBytes: 1_000 })
    const most = (workspaceId: string): number => {
      let bytes = 0
      while (uploads.open(of(workspaceId)).claim(1) === undefined) bytes += 1
      return bytes
    }
    expect(['a', 'b', 'c', 'd'].map(most)).toEqual([500, 250, 125, 62])
    expect(uploads.open(of('e')).claim(31)).toBeUndefined()
  })

  test('may all be of one workspace, if its limit is that of all', () => {
    const uploads = createUploads({ ...settings, maxUploadBytesPerWorkspace: 400 })
    expect([uploads.open(of('a')).claim(100), uploads.open(of('a')).claim(300)]).toEqual([undefined, undefined])
    expect(uploads.open(of('b')).claim(1)?.status).toBe(503)
    const none = createUploads({ maxBodyBytes: 0, maxUploadBytesPerWorkspace: 0, maxUploadBytesPerUser: 0, maxUploadBytes: 0 })
    expect(none.open(of('a')).claim(1)?.status).toBe(429)
  })

  test('always have room for one body of the maximum size', () => {
    const uploads = createUploads({ maxBodyBytes: 1_000, maxUploadBytesPerWorkspace: 10, maxUploadBytesPerUser: 10, maxUploadBytes: 10 })
    expect(uploads.open(of('a')).claim(1_000)).toBeUndefined()
    expect(
      createUploads({ ...settings, maxUploadBytesPerUser: 1 })
        .open(user('ann'))
        .claim(100),
    ).toBeUndefined()
  })

  test('are limited for each user within its workspace, and the error says whose share is used up', () => {
    const uploads = createUploads(settings)
    const first = uploads.open(user('ann'))
    expect(first.claim(100)).toBeUndefined()
    expect(uploads.open(user('ann')).claim(21)?.message).toContain('this user would exceed its limit of 120 bytes')
    expect([uploads.open(user('ben')).claim(120), uploads.open(of('a')).claim(30)]).toEqual([undefined, undefined])
    expect(uploads.open(user('cem')).claim(1)?.message).toContain('the workspace of this user would exceed its limit.')
    first.release()
    expect(uploads.open(user('ann')).claim(100)).toBeUndefined()
  })

  test('in addition to a body are limited to the share of its user', () => {
    const uploads = createUploads(settings)
    const upload = uploads.open(user('ann'))
    expect(upload.claim(100)).toBeUndefined()
    const release = upload.claimMore(1_000)
    upload.claimMore(1)
    expect(uploads.open(user('ann')).claim(1)?.status).toBe(429)
    release()
    release()
    expect(uploads.open(user('ann')).claim(20)).toBeUndefined()
    expect(uploads.open(user('ann')).claim(1)?.status).toBe(429)
  })
})

test('a body that arrives byte by byte is kept in few pieces, complete and in order', () => {
  const collected = collectBytes()
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251)
  for (let at = 0; at < 150_000; at++) collected.add(bytes.subarray(at, at + 1))
  collected.add(bytes.subarray(150_000, 190_000))
  for (let at = 190_000; at < 200_000; at += 7) collected.add(bytes.subarray(at, Math.min(200_000, at + 7)))
  const pieces = collected.pieces()
  expect(pieces.length).toBeLessThan(10)
  expect(Buffer.compare(Buffer.concat(pieces), bytes)).toBe(0)
})
