import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const source = resolve(import.meta.dirname, '../src')

/** The packages that a module loads at once, with all that it imports from this package. Types and `import()` load nothing. */
function packagesOf(entry: string): ReadonlySet<string> {
  const found = new Set<string>()
  const files = new Set([join(source, entry)])
  for (const file of files)
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^']*?'([^']+)'/gm))
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier))
      else found.add(specifier)
  return found
}

test.each(['index.ts', 'management/routes.ts', 'routes.ts'])('%s responds without loading a schema library', entry => {
  const found = packagesOf(entry)
  expect(found).toContain('@signalbox/dialects/errors')
  expect([...found].filter(name => name.startsWith('zod'))).toEqual([])
})

test('the OpenAPI document is created with it', () => {
  expect(packagesOf('openapi/document.ts')).toContain('zod/v4')
})
