import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', 'all-routes': 'src/all-routes.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2023',
  dts: true,
  clean: true,
  // 'node:sqlite' has no other name, and Workers and Deno want the prefix for all.
  removeNodeProtocol: false,
})
