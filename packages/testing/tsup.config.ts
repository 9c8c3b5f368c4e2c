import { library } from './tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    suites: 'src/suites.ts',
    'answers/index': 'src/answers/index.ts',
    'chaos/index': 'src/chaos/index.ts',
    'storage/index': 'src/storage/index.ts',
  },
  platform: 'node',
})
