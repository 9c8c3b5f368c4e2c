import { join, resolve } from 'node:path'
import { build } from 'tsup'

/**
 * `node build-packages.ts FOLDER NAME…` builds packages into the folder, each as its own tsup.config.ts says, only without declarations. One
 * process for all: loading the compiler takes longer than most builds.
 */
const [folder = '', ...names] = process.argv.slice(2)
for (const name of names) {
  const cwd = resolve(import.meta.dirname, '../../..', name)
  process.chdir(cwd)
  await build({
    dts: false,
    silent: true,
    outDir: join(folder, name),
    // esbuild keeps the folder in which it was loaded.
    esbuildOptions(options) {
      options.absWorkingDir = cwd
    },
  })
}
