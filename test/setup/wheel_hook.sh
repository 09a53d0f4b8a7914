#!/usr/bin/env bash
# The hook of docs/pre-commit.md that installs the wheel, with the real pre-commit, for somebody
# who has python3 and git and no torch-tidy: a commit with a defect is refused, one without is not.
#
#   wheel_hook.sh FOLDER WHEEL PAGE PRE_COMMIT FLAG...
#
# PAGE is docs/pre-commit.md, PRE_COMMIT a folder with pre-commit in it, FLAG what the compiler
# needs for LibTorch. pip fetches setuptools for pre-commit.
set -euo pipefail
folder=$1 wheel=$(realpath "$2") page=$(realpath "$3") pre_commit=$4
shift 4
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/work/build"
for name in bash cat dirname env git sh; do
  ln -s "$(command -v $name)" "$folder/bin"
done
# What the path has may be a script of a version manager.
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$folder/bin/python3"
export PATH=$folder/bin PYTHONPATH=$pre_commit PRE_COMMIT_HOME=$folder/home
if command -v torch-tidy; then
  echo "there is a torch-tidy on the path"
  exit 1
fi
cd "$folder/work"

# As the page has it, with the wheel that is here.
python3 - "$page" "$wheel" >.pre-commit-config.yaml <<'END'
import re
import sys
from pathlib import Path
page = Path(sys.argv[1]).read_text(encoding="utf-8")
block = re.search(r"```yaml\n(.*?repo: local.*?)```", page.split("## Installed by pre-commit")[1], re.S)
config, found = re.subn(r"<[^>]*torch_tidy-[^>]*\.whl>", sys.argv[2], block[1])
assert found == 1, config
print(config)
END
printf '%s\n' '#include <torch/torch.h>' \
  'void train(torch::nn::Linear net, torch::optim::SGD &optimizer, torch::Tensor input) {' \
  '  for (int i = 0; i < 9; ++i) {' \
  '    net->forward(input).sum().backward();' \
  '    optimizer.step();' \
  '  }' '}' >train.cpp
echo "[{\"directory\": \"$PWD\", \"file\": \"train.cpp\", \"command\": \"c++ $* -c train.cpp\"}]" \
  >build/compile_commands.json
echo build >.gitignore
git init -q .
git config user.name a
git config user.email a@example.org
python3 -m pre_commit install
git add .
if git commit -q -m first; then
  echo "the defect was not refused"
  exit 1
fi
python3 - <<'END'
from pathlib import Path
path = Path("train.cpp")
path.write_text(path.read_text().replace("step();", "step(); optimizer.zero_grad();"))
END
git add .
git commit -q -m second
git log --format=%s
