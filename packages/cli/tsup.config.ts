import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: { main: 'src/main.ts' },
  platform: 'node',
})
