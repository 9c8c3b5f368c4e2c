import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Writes src/generated, which git ignores: the schemas of `src/*/schema.sql` as modules, because bundles cannot read files. `pnpm generate`.

const source = resolve(import.meta.dirname, '../src')
const schemaOf = (name: string): string => readFileSync(join(source, name, 'schema.sql'), 'utf8')

/** SQLite over a network takes single statements, and those of triggers contain semicolons. */
const statementsIn = (sql: string): readonly string[] => sql.trim().replace(/;$/, '').split(';\n\n')

const modules = {
  'postgres-schema.ts': `export const postgresSchema = ${JSON.stringify(schemaOf('postgres'))}\n`,
  'sqlite-schema.ts': `export const sqliteSchema: readonly string[] = ${JSON.stringify(statementsIn(schemaOf('sqlite')), undefined, 2)}\n`,
}
mkdirSync(join(source, 'generated'), { recursive: true })
for (const [name, text] of Object.entries(modules)) writeFileSync(join(source, 'generated', name), text)
