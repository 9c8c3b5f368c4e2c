import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatedFiles } from './generated-files.ts'

// Writes src/generated from the route table and the schemas of its bodies: node --conditions=signalbox-source packages/client/tools/generate.ts

const folder = resolve(import.meta.dirname, '../src/generated')
for (const [name, text] of Object.entries(await generatedFiles())) writeFileSync(join(folder, name), text)
execFileSync(join(import.meta.dirname, '../../../node_modules/.bin/biome'), ['format', '--write', folder], { stdio: 'inherit' })
