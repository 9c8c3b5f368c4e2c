import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', suites: 'src/suites.ts' },
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  dts: true,
  clean: true,
})
