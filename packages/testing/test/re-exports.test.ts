import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundledTypes, emitReExports } from '../tools/build/re-exports.ts'

const sources = resolve(import.meta.dirname, '../../signalbox/src')

test('types of entries that only re-export are emitted as they are written, and those of others are bundled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const entries = globSync(join(sources, '*.ts'))
  emitReExports(entries, folder)
  expect(readFileSync(join(folder, 'ai-sdk.d.ts'), 'utf8')).toBe(readFileSync(join(sources, 'ai-sdk.ts'), 'utf8'))
  const emitted = globSync(join(folder, '*.d.ts')).map(file => basename(file, '.d.ts'))
  const bundled = Object.keys(bundledTypes(entries))
  expect([...emitted, ...bundled].sort()).toEqual(entries.map(file => basename(file, '.ts')).sort())
  expect(bundled).toEqual(expect.arrayContaining(['bun', 'express', 'workers']))
})
