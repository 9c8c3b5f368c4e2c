import DefaultTheme from 'vitepress/theme'
import './style.css'

// The default theme, with room for tables and code.
// biome-ignore lint/style/noDefaultExport: VitePress reads it.
export default DefaultTheme
