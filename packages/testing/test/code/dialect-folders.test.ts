import { clientDialects, providerDialects } from '@signalbox/dialects'
import { describe, expect, test } from 'vitest'
import { type Source, sourcesOf } from './sources.ts'

// The folders of dialects have the same files, so that a reader of one finds the way in all of them.

const providerFiles = ['provider', 'encode-request', 'decode-response', 'decode-stream', 'errors', 'fidelity', 'items', 'wire']
const clientFiles = ['client', 'decode-request', 'encode-response', 'encode-stream', 'known-fields']

/** Words that say nothing about a file’s purpose. */
const vague =
  /^(spelling|growing|telling|reading|writing|sorting|unsayable|unread|verbatim|marks|mint|answer|answers|calls|state|stream-in|stream-out|snapshot|slots|limits|check|quirks|fits|told)$/

const maxFunctionLines = 60

/** Folders that are no dialect: the internal format, errors, event streams, what dialects share, and the table of client dialects. */
const shared = /^(protocol|errors|sse|common|clients)\//
const sources = sourcesOf('dialects').filter(({ path }) => !shared.test(path))
const folderOf = (path: string): string => /^([\w-]+)\//.exec(path)?.[1] ?? ''
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1, -'.ts'.length)

/** `path:line` of each function at the top of a file that is longer than allowed. */
function longFunctions({ path, text }: Source): readonly string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const isFunction = /^(export )?(async )?(function|const) /.test(line)
    const length = lines.slice(start + 1).findIndex(each => /^[^\s)}\]]/.test(each))
    const isTable = !lines.slice(start, start + 5).some(each => /=>|function /.test(each))
    return isFunction && !isTable && length > maxFunctionLines ? [`${path}:${start + 1}`] : []
  })
}

describe.each(Object.keys(providerDialects))('the folder of %s', dialect => {
  const names = sources.filter(({ path }) => folderOf(path) === dialect).map(({ path }) => nameOf(path))

  test('has the files of a provider dialect', () => {
    expect(names).toEqual(expect.arrayContaining(providerFiles))
  })

  if (dialect in clientDialects)
    test('has the files of a client dialect', () => {
      expect(names).toEqual(expect.arrayContaining(clientFiles))
    })
})

test('every dialect has a folder, and every folder is a dialect', () => {
  const folders = new Set(sources.map(({ path }) => folderOf(path)).filter(folder => folder !== ''))
  expect([...folders].toSorted()).toEqual(Object.keys(providerDialects).toSorted())
})

test('files of dialects are named for what they do', () => {
  expect(sources.map(({ path }) => path).filter(path => vague.test(nameOf(path)))).toEqual([])
})

test(`functions of dialects have at most ${maxFunctionLines} lines`, () => {
  expect(sources.flatMap(longFunctions)).toEqual([])
})
