import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../dialects/test/any-character.ts'
import { createLog, type Log } from '../src/log.ts'

const line = {
  requestId: '01a1',
  method: 'POST',
  route: '/v1/responses',
  status: 200,
  ms: 12.3,
  model: 'sim/echo',
  provider: 'sim-fast',
  inputTokens: 3,
  outputTokens: 4,
  costMicrodollars: 5,
}

function written(isTTY: boolean, run: (log: ReturnType<typeof createLog>) => void): string {
  let text = ''
  const log = createLog({ isTTY, write: more => (text += more) }, { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) })
  run(log)
  log.flush()
  return text
}

test('a terminal gets a readable line', () => {
  expect(written(true, log => log.onRequest(line))).toBe(
    '03:04:05 200 POST /v1/responses sim/echo sim-fast 12 ms 3+4 tokens $0.000005 01a1\n',
  )
})

test('a model name from a client cannot contain terminal controls or start a line', () => {
  expect(written(true, log => log.onRequest({ ...line, model: 'a\u001b[2J\nb\u202e' }))).toContain(' a?[2J?b? ')
  expect(written(false, log => log.onRequest({ ...line, model: 'a\nb' })).split('\n')).toHaveLength(2)
})

test('with any model name a log entry is one line, and JSON has the unchanged name', () => {
  const told = (name: string): void => {
    const facts = { error: name, requestId: '1' }
    for (const run of [(log: Log) => log.onRequest({ ...line, model: name }), (log: Log) => log.logger.warn(facts, 'It failed.')]) {
      const [machine, human] = [written(false, run), written(true, run)]
      for (const text of [machine, human]) expect(text.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u)
      const { model, error } = JSON.parse(machine)
      expect(model ?? error).toBe(name)
    }
  }
  for (const name of ['a\r\nb', '\u009b2J', '\u2028{"level":"error"}', '\u202e\u2066', '\ufeff', '"}\n{"', '\0', '\u007f', '%s%d', '𝒳'])
    told(name)
  fc.assert(fc.property(fc.string({ maxLength: 60, unit: anyCharacter }).filter(isUncensored), told))
})

const isUncensored = (text: string): boolean => !/(ak_|sk-|inv_)/.test(text) && text.isWellFormed()

test('no field of a request line shows a key', () => {
  for (const field of ['model', 'provider', 'code'] as const)
    for (const isTTY of [true, false]) {
      const text = written(isTTY, log => log.onRequest({ ...line, [field]: 'sk-verysecretkey' }))
      expect(text).toContain('sk-…')
      expect(text).not.toContain('verysecret')
    }
})

test('a JSON line has a field for each known fact, and none for the others', () => {
  expect(written(false, log => log.onRequest({ ...line, keyId: 'key_1', workspaceId: 'ws_1', code: 'rate_limited' }))).toBe(
    `${JSON.stringify({
      time: '2026-01-02T03:04:05.000Z',
      level: 'info',
      request_id: '01a1',
      method: 'POST',
      route: '/v1/responses',
      status: 200,
      ms: 12.3,
      key_id: 'key_1',
      workspace_id: 'ws_1',
      model: 'sim/echo',
      provider: 'sim-fast',
      input_tokens: 3,
      output_tokens: 4,
      cost_usd: 0.000005,
      code: 'rate_limited',
    })}\n`,
  )
  const { requestId, method, route, status, ms } = line
  expect(JSON.parse(written(false, log => log.onRequest({ requestId, method, route, status, ms })))).toEqual({
    time: '2026-01-02T03:04:05.000Z',
    level: 'info',
    request_id: '01a1',
    method,
    route,
    status,
    ms,
  })
})

test('lines of one turn of the event loop are one write, in their order', () => {
  const { log, writes, endTurn } = watched()
  log.onRequest({ ...line, requestId: 'first' })
  log.logger.warn({}, 'It failed.')
  log.onRequest({ ...line, requestId: 'second' })
  expect(writes).toEqual([])
  endTurn()
  expect(writes).toHaveLength(1)
  expect(writes[0]).toMatch(/^[^\n]*first[^\n]*\n[^\n]*It failed\.[^\n]*\n[^\n]*second[^\n]*\n$/)
  log.onRequest(line)
  endTurn()
  expect(writes).toHaveLength(2)
})

test('pending lines are written at once if they are long, or the process is about to exit', () => {
  const { log, writes, endTurn } = watched()
  const facts = { error: 'x'.repeat(1_000) }
  for (let count = 0; count < 200; count += 1) log.logger.error(facts, 'It failed.')
  expect(writes.length).toBeGreaterThan(1)
  for (const text of writes) expect(text.length).toBeLessThan(70_000)
  log.flush()
  expect(writes.join('').split('\n')).toHaveLength(201)
  const before = writes.length
  endTurn()
  expect(writes).toHaveLength(before)
})

test('a worker has its number in each line, and no write is larger than a pipe’s atomic size', () => {
  const writes: string[] = []
  const lines = (isTTY: boolean): readonly string[] => {
    writes.length = 0
    const log = createLog({ isTTY, write: text => writes.push(text) }, { worker: 7, now: () => 0 })
    for (let at = 0; at < 100; at++) log.onRequest({ ...line, model: 'ä'.repeat(at) })
    log.logger.warn({ error: 'é'.repeat(5_000) }, 'It failed.')
    log.onRequest(line)
    log.flush()
    return writes.join('').trimEnd().split('\n')
  }
  const machine = lines(false).map(text => JSON.parse(text))
  expect(machine).toHaveLength(102)
  expect(machine.every(({ worker }) => worker === 7)).toBe(true)
  const long = writes.filter(text => Buffer.byteLength(text) > 4_096)
  expect(long.map(text => text.trimEnd().split('\n').length)).toEqual([1])
  expect(writes.length).toBeLessThan(20)
  for (const text of writes) expect(text.endsWith('\n')).toBe(true)
  expect(lines(true).every(text => text.startsWith('00:00:00 w7 '))).toBe(true)
})

function watched() {
  const writes: string[] = []
  const deferred: (() => void)[] = []
  const log = createLog({ write: text => writes.push(text) }, { now: () => 0, defer: run => deferred.push(run) })
  return { log, writes, endTurn: () => deferred.splice(0).forEach(run => void run()) }
}

test('errors are logged in the same form, without keys', () => {
  const facts = { error: 'refused Bearer sk-verysecretkey', requestId: '1' }
  expect(JSON.parse(written(false, log => log.logger.error(facts, 'It failed.')))).toEqual({
    time: '2026-01-02T03:04:05.000Z',
    level: 'error',
    message: 'It failed.',
    error: 'refused Bearer sk-…',
    requestId: '1',
  })
  expect(written(true, log => log.logger.warn(facts, 'It failed.'))).toBe(
    '03:04:05 warn It failed. {"error":"refused Bearer sk-…","requestId":"1"}\n',
  )
})
