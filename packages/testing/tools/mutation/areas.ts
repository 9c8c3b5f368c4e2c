import { globSync } from 'node:fs'
import { join } from 'node:path'

/** The parts where a fault costs money, limits, secrets or answers: what is drawn from, by the name it is reported under. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  api: ['packages/api/src/{authorize,body,json-limits,handle,idempotency,match,stream,uploads}.ts'],
  access: ['packages/core/src/access/*.ts'],
  'decoders and encoders': ['packages/dialects/src/*/{decode-*,encode-*,partial-*,item-*,items,frames,event-stream}.ts'],
  'error reading': [
    'packages/dialects/src/common/failure.ts',
    'packages/dialects/src/errors/*.ts',
    'packages/core/src/upstream/error-message.ts',
  ],
  attempts: ['packages/core/src/upstream/*.ts'],
  'admission and settlement': ['packages/core/src/request/**/*.ts'],
  management: ['packages/workspaces/src/**/*.ts'],
  metering: ['packages/core/src/metering/*.ts'],
  router: ['packages/router/src/**/*.ts'],
  'sealing and events': ['packages/core/src/runtime/seal.ts', 'packages/dialects/src/sse/*.ts'],
  'memory store': ['packages/storage-memory/src/*.ts'],
  'SQL store': ['packages/storage-sql/src/**/*.ts'],
}

/** Parts of paths that only programs of other runtimes run: their tests are there, where no mutant can be switched on. */
const elsewhere = ['storage-sql/src/d1.ts', 'storage-sql/src/durable-object.ts', 'storage-sql/src/workers']

export interface Room {
  readonly name: string
  /** Absolute paths. */
  readonly files: readonly string[]
}

/** Each file belongs to the first room that names it. */
export function roomsOf(root: string): readonly Room[] {
  const taken = new Set<string>()
  return Object.entries(rooms).map(([name, patterns]) => {
    const files = patterns
      .flatMap(pattern => globSync(pattern, { cwd: root }))
      .filter(path => !path.endsWith('.test.ts') && !taken.has(path) && !elsewhere.some(part => path.includes(part)))
      .sort()
    for (const path of files) taken.add(path)
    return { name, files: files.map(path => join(root, path)) }
  })
}
