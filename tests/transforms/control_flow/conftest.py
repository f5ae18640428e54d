import sys
from pathlib import Path

# programs.py stands here
sys.path.insert(0, str(Path(__file__).parent))
