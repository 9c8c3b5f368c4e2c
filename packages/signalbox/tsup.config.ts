import { readFileSync } from 'node:fs'
import { library } from '../testing/tools/build/library.ts'
import { bundledTypes } from '../testing/tools/build/re-exports.ts'

const { exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly 'signalbox-source': string } | string>>
}

const entry = ['src/bin.ts', ...Object.values(exports).flatMap(each => (typeof each === 'string' ? [] : each['signalbox-source']))]

export default library({ entry, platform: 'node', dts: { entry: bundledTypes(entry) } })
