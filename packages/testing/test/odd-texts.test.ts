import { expect, test } from 'vitest'
import { type Answer, ask } from './matrix/asking.ts'
import { callOf, createFixture, type Fixture, openIn, rows } from './matrix/fixture.ts'
import { bodyFor } from './matrix/samples.ts'
import { shareOf } from './share-of.ts'
import { storesFor } from './stores.ts'

// Text that some databases refuse or change: NUL, and lone surrogates, each of which would be stored as the same character.

const oddTexts = { 'a NUL character': 'a\0b', 'a lone surrogate': 'a\ud800b' } as const
type Path = readonly (string | number)[]

/** The paths of all texts in a body. */
function* textsIn(part: unknown, path: Path = []): Generator<Path> {
  if (typeof part === 'string') yield path
  else if (typeof part === 'object' && part !== null)
    for (const [name, inner] of Object.entries(part)) yield* textsIn(inner, [...path, name])
}

function withText(body: Readonly<Record<string, unknown>>, path: Path, text: string): unknown {
  const copy: unknown = structuredClone(body)
  let place = copy as Record<string | number, unknown>
  for (const name of path.slice(0, -1)) place = place[name] as Record<string | number, unknown>
  place[path.at(-1) ?? ''] = text
  return copy
}

/** The answers to requests with the text in each parameter of path and query of every row, by request. */
async function looksUp({ mine }: Fixture, text: string) {
  const answers = new Map<string, Answer>()
  for (const [name, row] of rows) {
    const sent = row.body === undefined ? {} : bodyFor(row)
    for (const parameter of openIn(row)) {
      const call = await callOf(row, mine, { [parameter]: encodeURIComponent(text.toWellFormed()) })
      answers.set(`${name} ${parameter}`, await ask(mine, call, { body: sent }))
    }
    for (const { name: parameter } of row.method === 'GET' ? (row.query ?? []) : []) {
      const query = `${parameter}=${encodeURIComponent(text.toWellFormed())}`
      answers.set(`${name}?${parameter}`, await ask(mine, await callOf(row, mine), { query }))
    }
  }
  return answers
}

const names = ['memory', 'SQLite', 'PostgreSQL']

for (const { describeHere, name, make } of await storesFor(`odd_texts_${process.pid}`))
  describeHere(`${name}, with text that is not text everywhere`, () => {
    const opened = async (): Promise<Fixture> => {
      const here = await createFixture(make())
      for (const [, row] of rows) await callOf(row, here.mine)
      return here
    }

    const texts = shareOf(Object.entries(oddTexts), names.indexOf(name), 3)
    test.each(texts)('%s in any text of a body is refused', async (_, text) => {
      const here = await opened()
      for (const [place, row] of rows) {
        if (row.body === undefined) continue
        for (const path of textsIn(bodyFor(row))) {
          const answer = await ask(here.mine, await callOf(row, here.mine), { body: withText(bodyFor(row), path, text) })
          expect([place, path, answer.status]).toEqual([place, path, 400])
          expect(['invalid_parameter_value', 'invalid_request']).toContain(answer.json.error?.code)
        }
      }
      await here.gateway.close()
    })

    test.each(texts)('%s in a path or query finds nothing, and fails nothing', async (_, text) => {
      const here = await opened()
      for (const [place, { status }] of await looksUp(here, text)) expect([place, [200, 400, 404].includes(status)]).toEqual([place, true])
      await here.gateway.close()
    })

    test('two payments whose references differ in lone surrogates alone are not taken for one', async () => {
      const { gateway, mine } = await opened()
      const { billing } = gateway.workspaces(mine.workspaceId)
      for (const reference of ['paid \ud800', 'paid \udc01'])
        await expect(billing.credit({ reference, amount: 5 })).rejects.toMatchObject({ code: 'invalid_parameter_value' })
      await gateway.close()
    })
  })
