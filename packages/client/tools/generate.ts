import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatedFiles } from './generated-files.ts'

// Writes src/generated, which git ignores, from the route table and the schemas of its bodies: `pnpm generate`.

const folder = resolve(import.meta.dirname, '../src/generated')
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(await generatedFiles())) writeFileSync(join(folder, name), text)
