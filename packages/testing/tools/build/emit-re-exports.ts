import { globSync } from 'node:fs'
import { emitReExports } from './re-exports.ts'

// `tsup && node ../testing/tools/build/emit-re-exports.ts` builds a package whose entries are re-exports.

emitReExports(globSync('src/*.ts'), 'dist')
