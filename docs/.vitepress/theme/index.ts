import DefaultTheme from 'vitepress/theme'
import './style.css'

// The default theme, with room for tables and code.
export default DefaultTheme
