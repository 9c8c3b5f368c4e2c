import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A function as V8 identifies it. */
interface Place {
  readonly name: string
  readonly url: string
  readonly line: number
}

/** Folder of the source, as in `packages/core/src/routing`; foreign code by package, or as V8 names it. */
export const roomOf = (where: string): string =>
  /^packages\/[\w-]+\/src(\/[\w-]+)*?(?=\/[\w.-]+:)/.exec(where)?.[0] ?? where.replace(/:\d+$/, '')

/** Maps lines of the bundle to sources: the bundler starts every module with a comment that names its file. */
export function originsOf(): (place: Place) => string {
  const bundle = resolve(import.meta.dirname, '../dist/gateway.js')
  const files: string[] = []
  let file = ''
  for (const line of readFileSync(bundle, 'utf8').split('\n')) {
    file = /^\/\/ ((?:\.\.\/|src\/|packages\/|node_modules\/).*)$/.exec(line)?.[1] ?? file
    files.push(file)
  }
  return ({ url, line, name }) => {
    if (url.startsWith('file:') && fileURLToPath(url) === bundle) return shorten(files[line] ?? '', line)
    if (url === '') return name.startsWith('(') ? name : 'native'
    return shorten(url.replace(/^file:\/\//, ''), line)
  }
}

function shorten(path: string, line: number): string {
  const vendor = /.*node_modules\/(?!\.pnpm)((?:@[^/]+\/)?[^/]+.*)$/.exec(path)?.[1]
  if (vendor !== undefined) return `${vendor}:${line + 1}`
  return `${path.replace(/^(\.\.\/)+/, 'packages/').replace(/^packages\/packages\//, 'packages/')}:${line + 1}`
}
