import fc from 'fast-check'
import { expect, test } from 'vitest'
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
  run(createLog({ isTTY, write: more => (text += more) }, () => Date.UTC(2026, 0, 2, 3, 4, 5)))
  return text
}

test('a terminal gets a line to be read', () => {
  expect(written(true, log => log.onRequest(line))).toBe(
    '03:04:05 200 POST /v1/responses sim/echo sim-fast 12 ms 3+4 tokens $0.000005 01a1\n',
  )
})

test('a model name from outside cannot steer a terminal or begin a line', () => {
  expect(written(true, log => log.onRequest({ ...line, model: 'a\u001b[2J\nb\u202e' }))).toContain(' a?[2J?b? ')
  expect(written(false, log => log.onRequest({ ...line, model: 'a\nb' })).split('\n')).toHaveLength(2)
})

test('whatever a model is called, a line is one line, and for machines the same name', () => {
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
  fc.assert(fc.property(fc.string({ maxLength: 60, unit: 'binary' }).filter(isUncensored), told))
})

const isUncensored = (text: string): boolean => !/(ak_|sk-|inv_)/.test(text) && text.isWellFormed()

test('what went wrong is told in the same form, without keys', () => {
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
