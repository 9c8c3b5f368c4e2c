import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    sqlite: 'src/sqlite.ts',
    'durable-object': 'src/durable-object.ts',
    workers: 'src/workers.ts',
    d1: 'src/d1.ts',
    libsql: 'src/libsql.ts',
    postgres: 'src/postgres.ts',
  },
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  dts: true,
  clean: true,
  sourcemap: true,
  // `node:sqlite` has no other name, and Workers and Deno require the prefix for all modules.
  removeNodeProtocol: false,
})
