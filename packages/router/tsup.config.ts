import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: { index: 'src/index.ts', 'decision-log/index': 'src/decision-log/index.ts', 'sync/index': 'src/sync/index.ts' },
})
