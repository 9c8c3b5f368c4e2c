import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { sqlite: 'src/sqlite.ts' },
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  dts: true,
  clean: true,
})
