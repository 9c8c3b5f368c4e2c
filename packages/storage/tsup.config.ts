import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', 'conformance/index': 'src/conformance/index.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  dts: true,
  clean: true,
})
