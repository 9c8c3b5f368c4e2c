import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  dts: false,
  clean: true,
  // 'node:sqlite' has no other name, and Workers and Deno want the prefix for all.
  removeNodeProtocol: false,
})
